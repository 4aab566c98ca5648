// Collects results and writes them as a Markdown table and as JSON.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "measure.h"

// A goal of a case. time_at_most is for latencies: revamp's time divided by the peer's time is at most `bound`.
// speed_at_least is for bandwidths: revamp's speed divided by the peer's speed is at least `bound`. seconds_at_most
// needs no peer: revamp's time is at most `bound` seconds.
struct Goal {
    enum Kind { none, time_at_most, speed_at_least, seconds_at_most } kind = none;
    double bound = 0;
};

struct Case {
    std::string name;
    double bytes = 0; // the bytes that one operation moves, for the figure in GB/s; 0: no such figure
    std::vector<Way> ways;
    std::map<std::string, Goal> goals; // a goal for each peer group; the goal of "revamp" is seconds_at_most
    Effort effort;
};

class Report {
  public:
    void fact(const std::string &name, const std::string &value) { facts_.emplace_back(name, value); }
    // Adds and prints a line for each peer group. Adds a line for revamp alone if there is no peer, or if "revamp" has
    // a goal.
    void add(const Case &c, const std::vector<Samples> &samples);
    // Adds the bytes that a program moved, as the library counts them, and the bytes that the peer would move. The goal
    // is to move at most the bytes of the peer.
    void add_bytes(const std::string &name, uint64_t ours, uint64_t transfers, const std::string &peer_name,
                   uint64_t peer);
    // Adds a ratio of speeds that summarises other rows. The goal is a ratio of at least `goal`; 0: no goal.
    void add_ratio(const std::string &name, const std::string &peer, double ratio, double goal);
    // Adds a case that could not be run.
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
    void count_verdict(const std::string &verdict);
    std::vector<std::pair<std::string, std::string>> facts_;
    std::vector<Row> rows_;
    int missed_ = 0, unclear_ = 0, failed_ = 0;
};
