// Collects the rows and writes them as a Markdown table and as JSON.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure.h"

// A ratio and its bound. Latencies: our time / the peer's, at most. Bandwidths: our speed / the peer's, at least.
// seconds_at_most bounds our own time, whatever the peer's.
struct Goal {
    enum Kind { none, time_at_most, speed_at_least, seconds_at_most } kind = none;
    double bound = 0;
};

struct Case {
    std::string name;
    double bytes = 0; // moved by one operation, for GB/s; 0: not a bandwidth
    std::vector<Way> ways;
    std::map<std::string, Goal> goals; // by peer group; "revamp": seconds_at_most
    Effort effort;
};

class Report {
  public:
    void fact(const std::string &name, const std::string &value) { facts_.emplace_back(name, value); }
    // Adds a line for each peer group, or one for ours alone, and prints them at once.
    void add(const Case &c, const std::vector<Samples> &samples);
    // What a program moved, as the library counts it, beside what the peer's rules make of it. Goal: no more.
    void add_bytes(const std::string &name, uint64_t ours, uint64_t transfers, const std::string &peer_name,
                   uint64_t peer);
    // A speed beside a peer's that other rows come to; the goal is the least, 0 for none.
    void add_ratio(const std::string &name, const std::string &peer, double ratio, double goal);
    // A case that could not be run at all.
    void skip(const std::string &name, const std::string &why);
    void print_facts() const;
    std::string markdown() const;
    std::string json() const;
    int missed() const { return missed_; }
    int unclear() const { return unclear_; }
    int failed() const { return failed_; }

  private:
    struct Row {
        std::string name, ours, peer, peer_name, ratio, goal, verdict, json;
    };
    static std::string line(const Row &row);
    void emit(Row row);
    void count(const std::string &verdict);
    std::vector<std::pair<std::string, std::string>> facts_;
    std::vector<Row> rows_;
    int missed_ = 0, unclear_ = 0, failed_ = 0;
};
