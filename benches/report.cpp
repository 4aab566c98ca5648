// Collects results and writes them as a Markdown table and as JSON (report.h).
#include "report.h"

#include <algorithm>
#include <cstdio>

namespace {

std::string format(const char *pattern, double value) {
    char text[64];
    std::snprintf(text, sizeof text, pattern, value);
    return text;
}

std::string duration(double seconds) {
    if (seconds < 1e-6) return format("%.1f ns", seconds * 1e9);
    if (seconds < 1e-3) return format(seconds < 1e-5 ? "%.2f us" : "%.1f us", seconds * 1e6);
    return format(seconds < 1e-2 ? "%.2f ms" : "%.1f ms", seconds * 1e3);
}

std::string figure(const Samples &s, double bytes) {
    std::string text = duration(s.median()) + " [" + duration(s.min()) + " .. " + duration(s.max()) + "]";
    if (bytes > 0) text += " " + format("%.2f GB/s", bytes / s.median() / 1e9);
    return text;
}

std::string quoted(const std::string &text) {
    std::string out = "\"";
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char code[8];
            std::snprintf(code, sizeof code, "\\u%04x", c);
            out += code;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string json_of(const Samples &s) {
    std::string out = "{\"group\":" + quoted(s.group) + ",\"name\":" + quoted(s.name);
    out += std::string(",\"checked\":") + (s.checked ? "true" : "false");
    if (!s.failure.empty()) out += ",\"failure\":" + quoted(s.failure);
    if (!s.seconds.empty()) {
        out += ",\"median_s\":" + format("%.9g", s.median()) + ",\"min_s\":" + format("%.9g", s.min());
        out += ",\"max_s\":" + format("%.9g", s.max()) + std::string(",\"stable\":") + (s.stable() ? "true" : "false");
        out += ",\"samples_s\":[";
        for (std::size_t i = 0; i < s.seconds.size(); i++)
            out += (i ? "," : "") + format("%.9g", s.seconds[i]);
        out += "]";
    }
    return out + "}";
}

// The way with the smallest median, stable or not.
const Samples *fastest(const std::vector<const Samples *> &ways) {
    const Samples *found = nullptr;
    for (const Samples *s : ways)
        if (s->failure.empty() && (!found || s->median() < found->median())) found = s;
    return found;
}

// The stable way with the smallest median. If no way is stable, the way with the smallest median.
const Samples *best(const std::vector<const Samples *> &ways) {
    const Samples *found = nullptr;
    for (const bool need_stable : {true, false}) {
        for (const Samples *s : ways) {
            if (!s->failure.empty() || (need_stable && !s->stable())) continue;
            if (!found || s->median() < found->median()) found = s;
        }
        if (found) break;
    }
    return found;
}

} // namespace

void Report::add(const Case &c, const std::vector<Samples> &samples) {
    std::vector<const Samples *> ours;
    std::vector<std::pair<std::string, std::vector<const Samples *>>> groups;
    for (const auto &s : samples) {
        if (!s.failure.empty()) {
            failed_++;
            std::fprintf(stderr, "%s: %s, %s: %s\n", c.name.c_str(), s.group.c_str(), s.name.c_str(),
                         s.failure.c_str());
        }
        if (s.group == "revamp") {
            ours.push_back(&s);
            continue;
        }
        auto at = std::find_if(groups.begin(), groups.end(), [&](auto &g) { return g.first == s.group; });
        if (at == groups.end()) at = groups.insert(groups.end(), {s.group, {}});
        at->second.push_back(&s);
    }
    std::string ways = "[";
    for (std::size_t i = 0; i < samples.size(); i++)
        ways += (i ? "," : "") + json_of(samples[i]);
    ways += "]";
    const Samples *best_ours = best(ours);
    // With --peers-only, revamp is not measured.
    const char *no_figure = ours.empty() ? "not measured" : "failed";
    const char *no_verdict = ours.empty() ? "reported" : "FAILED";
    const std::string bytes = c.bytes > 0 ? ",\"bytes\":" + format("%.0f", c.bytes) : "";
    const auto revamp_goal = c.goals.find("revamp");
    if (groups.empty() || revamp_goal != c.goals.end()) {
        Row row{c.name,
                best_ours ? figure(*best_ours, c.bytes) : no_figure,
                "",
                "",
                "",
                "",
                best_ours ? "reported" : no_verdict,
                ""};
        std::string numbers;
        if (revamp_goal != c.goals.end()) {
            row.goal = "<= " + duration(revamp_goal->second.bound);
            numbers = ",\"goal_s\":" + format("%.3g", revamp_goal->second.bound);
            // The verdict is "unclear" if the median misses the goal, the minimum meets it, and the samples are not
            // stable. The machine may then be the cause.
            if (best_ours && best_ours->median() <= revamp_goal->second.bound) {
                row.verdict = "met";
            } else if (best_ours) {
                row.verdict =
                    best_ours->min() <= revamp_goal->second.bound && !best_ours->stable() ? "unclear" : "MISSED";
            }
        }
        count_verdict(row.verdict);
        row.json = "{\"case\":" + quoted(c.name) + bytes + numbers + ",\"verdict\":" + quoted(row.verdict) +
                   (best_ours ? ",\"ours\":" + json_of(*best_ours) : "") + ",\"ways\":" + ways + "}";
        emit(std::move(row));
    }
    for (std::size_t g = 0; g < groups.size(); g++) {
        const Samples *peer = best(groups[g].second);
        const Samples *fastest_peer = fastest(groups[g].second);
        Row row{
            c.name, best_ours ? figure(*best_ours, c.bytes) : no_figure, "failed", groups[g].first, "", "", "reported",
            ""};
        if (peer) {
            row.peer = figure(*peer, c.bytes);
            if (!peer->name.empty()) row.peer_name += ": " + peer->name;
            if (!peer->stable()) row.peer_name += " (unstable)";
            // If an unstable way is faster, the row names it too, because the machine may have disturbed it.
            if (fastest_peer != peer)
                row.peer_name +=
                    "; faster but unstable: " + fastest_peer->name + ", " + duration(fastest_peer->median());
        }
        const auto found = c.goals.find(groups[g].first);
        const Goal goal = found == c.goals.end() ? Goal{} : found->second;
        const bool is_speed = goal.kind == Goal::speed_at_least || (goal.kind == Goal::none && c.bytes > 0);
        std::string numbers = std::string(",\"ratio_of\":\"") + (is_speed ? "speed" : "time") + "\"";
        if (goal.kind != Goal::none) {
            row.goal = (is_speed ? ">= " : "<= ") + format("%.2f", goal.bound);
            numbers += ",\"goal\":" + format("%.3g", goal.bound);
        }
        if (best_ours && peer) {
            const double ratio = is_speed ? peer->median() / best_ours->median() : best_ours->median() / peer->median();
            row.ratio = format("%.2f", ratio) + (is_speed ? " speed" : " time");
            numbers += ",\"ratio\":" + format("%.4g", ratio);
            const double ratio_to_fastest =
                is_speed ? fastest_peer->median() / best_ours->median() : best_ours->median() / fastest_peer->median();
            auto meets_goal = [&](double r) { return is_speed ? r >= goal.bound : r <= goal.bound; };
            if (goal.kind != Goal::none)
                row.verdict = !meets_goal(ratio) ? "MISSED" : meets_goal(ratio_to_fastest) ? "met" : "unclear";
        } else {
            row.verdict = best_ours ? "no peer" : no_verdict;
        }
        count_verdict(row.verdict);
        row.json = "{\"case\":" + quoted(c.name) + bytes + ",\"peer\":" + quoted(groups[g].first) + numbers +
                   ",\"verdict\":" + quoted(row.verdict) + (best_ours ? ",\"ours\":" + json_of(*best_ours) : "") +
                   (peer ? ",\"best_peer\":" + json_of(*peer) : "") + (g ? "" : ",\"ways\":" + ways) + "}";
        emit(std::move(row));
    }
}

void Report::add_bytes(const std::string &name, uint64_t ours, uint64_t transfers, const std::string &peer_name,
                       uint64_t peer) {
    Row row{
        name,
        std::to_string(ours) + " B in " + std::to_string(transfers) + (transfers == 1 ? " transfer" : " transfers"),
        std::to_string(peer) + " B",
        peer_name,
        format(peer && double(ours) < 0.01 * double(peer) ? "%.4f bytes" : "%.2f bytes", double(ours) / double(peer)),
        "<= 1.00",
        ours <= peer ? "met" : "MISSED",
        ""};
    count_verdict(row.verdict);
    row.json = "{\"case\":" + quoted(name) + ",\"unit\":\"bytes\",\"ours_bytes\":" + std::to_string(ours) +
               ",\"transfers\":" + std::to_string(transfers) + ",\"peer\":" + quoted(peer_name) +
               ",\"peer_bytes\":" + std::to_string(peer) +
               ",\"ratio_of\":\"bytes\",\"goal\":1,\"verdict\":" + quoted(row.verdict) + "}";
    emit(std::move(row));
}

void Report::add_ratio(const std::string &name, const std::string &peer, double ratio, double goal) {
    Row row{name,
            "",
            "",
            peer,
            format("%.2f speed", ratio),
            goal > 0 ? format(">= %.2f", goal) : "",
            goal <= 0       ? "reported"
            : ratio >= goal ? "met"
                            : "MISSED",
            ""};
    count_verdict(row.verdict);
    row.json = "{\"case\":" + quoted(name) + ",\"peer\":" + quoted(peer) +
               ",\"ratio_of\":\"speed\",\"goal\":" + format("%.3g", goal) + ",\"ratio\":" + format("%.4g", ratio) +
               ",\"verdict\":" + quoted(row.verdict) + "}";
    emit(std::move(row));
}

void Report::count_verdict(const std::string &verdict) {
    if (verdict == "MISSED") missed_++;
    if (verdict == "unclear") unclear_++;
}

void Report::skip(const std::string &name, const std::string &why) {
    Row row{name, "not run: " + why, "", "", "", "", "skipped", ""};
    row.json = "{\"case\":" + quoted(name) + ",\"verdict\":\"skipped\",\"why\":" + quoted(why) + "}";
    emit(std::move(row));
}

void Report::emit(Row row) {
    if (rows_.empty()) {
        std::printf("%s\n", line({"case", "revamp", "peer's figure", "peer", "ratio", "goal", "verdict", ""}).c_str());
        std::printf("|---|---|---|---|---|---|---|\n");
    }
    std::printf("%s\n", line(row).c_str());
    std::fflush(stdout);
    rows_.push_back(std::move(row));
}

std::string Report::line(const Row &row) {
    return "| " + row.name + " | " + row.ours + " | " + row.peer + " | " + row.peer_name + " | " + row.ratio + " | " +
           row.goal + " | " + row.verdict + " |";
}

void Report::print_facts() const {
    for (const auto &f : facts_)
        std::printf("- %s: %s\n", f.first.c_str(), f.second.c_str());
    std::printf("\n");
}

std::string Report::markdown() const {
    std::string out;
    for (const auto &f : facts_)
        out += "- " + f.first + ": " + f.second + "\n";
    out += "\n" + line({"case", "revamp", "peer's figure", "peer", "ratio", "goal", "verdict", ""}) +
           "\n|---|---|---|---|---|---|---|\n";
    for (const auto &row : rows_)
        out += line(row) + "\n";
    return out;
}

std::string Report::json() const {
    std::string out = "{\"format\":1,\"facts\":{";
    for (std::size_t i = 0; i < facts_.size(); i++)
        out += (i ? "," : "") + quoted(facts_[i].first) + ":" + quoted(facts_[i].second);
    out += "},\n\"rows\":[\n";
    for (std::size_t i = 0; i < rows_.size(); i++)
        out += rows_[i].json + (i + 1 < rows_.size() ? ",\n" : "\n");
    return out + "],\"missed\":" + std::to_string(missed_) + ",\"unclear\":" + std::to_string(unclear_) +
           ",\"failed\":" + std::to_string(failed_) + "}\n";
}
