// revamp: C++ AMP beside MPI (docs/mpi.md): each rank its accelerator, sections of array_views as messages, reductions.
// Used where the program has MPI; nothing else of revamp needs it.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_MPI_HPP
#define REVAMP_MPI_HPP

#include <amp.h>

// MPI's old C++ classes are not used, and need libraries of their own.
#ifndef OMPI_SKIP_MPICXX
#define OMPI_SKIP_MPICXX 1
#endif
#ifndef MPICH_SKIP_MPICXX
#define MPICH_SKIP_MPICXX 1
#endif
#include <mpi.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include <sched.h>
#include <unistd.h>

// The most bytes of one message of MPI, which counts in int; more is sent as several. The same on all ranks.
#ifndef REVAMP_MPI_PIECE
#define REVAMP_MPI_PIECE (std::size_t{1} << 30)
#endif

namespace revamp {
inline namespace REVAMP_ABI {
namespace mpi {

class session;
class communicator;
class request;

enum class operation { sum, product, minimum, maximum };

// What MPI refused, or what two ranks do not agree on.
class REVAMP_VISIBLE error : public Concurrency::runtime_exception {
  public:
    explicit error(const std::string &text) noexcept : runtime_exception(text.c_str(), revamp::detail::failed) {}
};

// To be held around calls of MPI that the program makes while other threads use this header: it asks MPI for
// MPI_THREAD_SERIALIZED, one call at a time.
inline std::mutex &calls() {
    static std::mutex one;
    return one;
}

namespace detail {

inline void check(int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw error(std::string(what) + ": " + text);
}

// While there is one, errors are returned also where MPI asks the handlers of these two, whatever communicator a
// request is of, as MPICH does of messages that are too long.
class errors_return {
  public:
    errors_return() {
        for (std::size_t i = 0; i < 2; ++i) {
            MPI_Comm_get_errhandler(comms[i], &m_before[i]);
            MPI_Comm_set_errhandler(comms[i], MPI_ERRORS_RETURN);
        }
    }
    errors_return(const errors_return &) = delete;
    ~errors_return() {
        for (std::size_t i = 0; i < 2; ++i) {
            MPI_Comm_set_errhandler(comms[i], m_before[i]);
            MPI_Errhandler_free(&m_before[i]);
        }
    }

  private:
    const MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    MPI_Errhandler m_before[2];
};

// What both sides of a message must have in common: rank, bytes of an element, kind, extent.
constexpr std::size_t header_dimensions = 8;
typedef std::array<long long, 3 + header_dimensions> header;

struct shape {
    std::vector<int> extent;
    std::size_t element = 0;

    std::size_t count() const {
        std::size_t all = 1;
        for (int size : extent)
            all *= static_cast<std::size_t>(size);
        return all;
    }
    std::size_t bytes() const { return count() * element; }
    header to_header(long long kind) const {
        header h = {};
        h[0] = static_cast<long long>(extent.size());
        h[1] = static_cast<long long>(element);
        h[2] = kind;
        for (std::size_t d = 0; d < extent.size(); ++d) {
            // What does not fit is mixed into the last.
            long long &at = h[3 + (std::min)(d, header_dimensions - 1)];
            at = d < header_dimensions ? extent[d] : (at * 1000003 + extent[d]) % (1LL << 61);
        }
        return h;
    }
    bool operator<(const shape &other) const {
        return element != other.element ? element < other.element : extent < other.extent;
    }
};

inline std::string text_of(const header &h) {
    std::string text = "an extent of (";
    for (std::size_t d = 0; d < (std::min)(static_cast<std::size_t>(h[0]), header_dimensions); ++d)
        text += (d ? ", " : "") + std::to_string(h[3 + d]);
    return text + ") of elements of " + std::to_string(h[1]) + " bytes";
}

// A staging array: memory of the host that the accelerator copies from and to directly, and that MPI sends from.
class staging {
  public:
    staging(const Concurrency::accelerator_view &device, const shape &of) {
        using namespace revamp::detail;
        const Concurrency::accelerator cpu(Concurrency::accelerator::cpu_accelerator);
        revamp_array_options options = {};
        options.struct_size = sizeof options;
        options.associated_view = access::native(device);
        revamp::detail::check(revamp_array_create(access::native(cpu.default_view),
                                                  static_cast<std::uint32_t>(of.extent.size()), of.extent.data(),
                                                  of.element, &options, &m_array));
    }
    staging(const staging &) = delete;
    ~staging() { (void)revamp_array_destroy(m_array); }
    revamp_region region() const {
        revamp_region r = {};
        r.struct_size = sizeof r;
        r.array = m_array;
        return r;
    }
    unsigned char *data(revamp_access access) const {
        void *address = nullptr;
        revamp::detail::check(revamp_array_data(m_array, access, &address));
        return static_cast<unsigned char *>(address);
    }

  private:
    revamp_array m_array = nullptr;
};

// A communicator of MPI with what belongs to it. The two others carry what REVAMP_CHECK=1 compares.
struct group {
    MPI_Comm comm = MPI_COMM_NULL, asks = MPI_COMM_NULL, answers = MPI_COMM_NULL;
    int rank = 0, size = 1;
    bool checks = false;

    group(MPI_Comm of, bool check_extents) : checks(check_extents) {
        for (MPI_Comm *made : {&comm, &asks, &answers}) {
            check(MPI_Comm_dup(of, made), "MPI_Comm_dup");
            check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
            if (!checks) break;
        }
        check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
        check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    }
    group(const group &) = delete;
    void release() {
        for (MPI_Comm *made : {&comm, &asks, &answers})
            if (*made != MPI_COMM_NULL) MPI_Comm_free(made);
    }
};

inline void check_is_open(const group &g) {
    if (g.comm == MPI_COMM_NULL)
        throw error("the session of MPI has ended: keep it alive while communicators are used");
}

enum class direction : long long { send, receive, collective };

// One operation under way: packed into staging memory by the accelerator, moved by MPI, unpacked by the accelerator.
struct transfer {
    std::shared_ptr<group> of;
    direction way = direction::send;
    int peer = MPI_PROC_NULL, tag = 0;
    shape elements;
    long long kind = 0;
    revamp_region region = {};
    std::shared_ptr<void> kept; // the array_view, which must live until it is done
    bool packs = false, unpacks = false;
    // Of a collective operation: begins to move `count` elements from the one after `before` on.
    std::function<int(unsigned char *memory, std::size_t before, std::size_t count, MPI_Request *started)> move;

    std::unique_ptr<staging> memory;
    revamp_completion copy = nullptr;
    header mine = {}, theirs = {};
    header low[2] = {}, lowest[2] = {};
    std::vector<MPI_Request> asked, moving;
    std::size_t found = 0;                              // bytes of the pieces that this receive has found
    std::list<std::vector<unsigned char>> without_room; // what they have beyond `memory`
    bool agreed = false, posted = false, unpacking = false, done = false, dropped = false;
    std::exception_ptr failure;

    transfer() = default;
    transfer(const transfer &) = delete;
    ~transfer() {
        if (copy) (void)revamp_completion_release(copy);
    }
};

constexpr std::size_t most_of_a_piece = REVAMP_MPI_PIECE;

// All operations of the process. Called with calls() locked.
class engine {
  public:
    static engine &one() {
        // Not destroyed: requests may be in static objects.
        static engine &only = *new engine;
        return only;
    }

    bool is_open = false;
    std::vector<std::shared_ptr<group>> groups;
    std::vector<Concurrency::accelerator_view> device; // one, while a session is open

    void start(const std::shared_ptr<transfer> &t) {
        check_is_open(*t->of);
        if (t->way != direction::collective && t->peer == MPI_PROC_NULL) {
            t->done = true;
            return;
        }
        if (t->of->checks)
            ask(*t);
        else
            t->agreed = true;
        if (t->packs) {
            t->memory = take(t->elements);
            begin_copy(*t, t->region, t->memory->region());
        }
        m_pending.push_back(t);
        progress();
    }

    // True if anything went on.
    bool progress() {
        bool moved = false;
        if (m_pending.empty()) return moved;
        const errors_return until_the_end;
        for (auto at = m_pending.begin(); at != m_pending.end();) {
            transfer &t = **at;
            try {
                if (t.failure)
                    t.done = copied(t);
                else
                    moved |= step(t);
            } catch (...) {
                if (!t.failure) t.failure = std::current_exception();
                give_up(t);
            }
            if (t.done) {
                if (t.memory && !t.failure) give_back(t.elements, std::move(t.memory));
                at = m_pending.erase(at);
                moved = true;
            } else {
                ++at;
            }
        }
        return moved;
    }

    // Ends all that was begun and releases what MPI must not find at its end.
    void close() {
        // What a program gave up in an exception and no rank will send.
        m_is_closing = true;
        for (const std::shared_ptr<transfer> &t : m_pending)
            if (t->dropped && t->way == direction::receive)
                for (MPI_Request &r : t->asked)
                    if (r != MPI_REQUEST_NULL) MPI_Cancel(&r);
        while (!m_pending.empty()) {
            if (!progress()) std::this_thread::yield();
        }
        m_idle.clear();
        m_lost.clear();
        m_lost_pieces.clear();
        m_idle_bytes = 0;
        for (const std::shared_ptr<group> &g : groups)
            g->release();
        groups.clear();
        device.clear();
        m_is_closing = is_open = false;
    }

  private:
    bool m_is_closing = false;
    std::list<std::shared_ptr<transfer>> m_pending;
    std::map<shape, std::vector<std::unique_ptr<staging>>> m_idle;
    std::size_t m_idle_bytes = 0;
    std::vector<std::unique_ptr<staging>> m_lost;
    std::list<std::vector<unsigned char>> m_lost_pieces;
    static constexpr std::size_t most_idle_bytes = std::size_t{256} << 20;

    std::unique_ptr<staging> take(const shape &of) {
        std::vector<std::unique_ptr<staging>> &idle = m_idle[of];
        if (idle.empty()) return std::make_unique<staging>(device.front(), of);
        std::unique_ptr<staging> found = std::move(idle.back());
        idle.pop_back();
        m_idle_bytes -= of.bytes();
        return found;
    }
    void give_back(const shape &of, std::unique_ptr<staging> memory) {
        if (m_idle_bytes + of.bytes() > most_idle_bytes) return;
        m_idle_bytes += of.bytes();
        m_idle[of].push_back(std::move(memory));
    }

    // After a failure: pieces of a message that MPI still has go on in memory that stays until the end. A copy under
    // way is waited for by progress().
    void give_up(transfer &t) {
        bool any = false;
        for (std::vector<MPI_Request> *all : {&t.asked, &t.moving})
            for (MPI_Request &r : *all)
                if (r != MPI_REQUEST_NULL) {
                    MPI_Request_free(&r);
                    any = true;
                }
        if (any && t.memory) m_lost.push_back(std::move(t.memory));
        if (any) m_lost_pieces.splice(m_lost_pieces.end(), t.without_room);
    }

    static void begin_copy(transfer &t, const revamp_region &source, const revamp_region &destination) {
        revamp::detail::check(revamp_copy_async(&source, &destination, nullptr, &t.copy));
    }
    // True when the copy under way, if any, is done; throws what made it fail.
    static bool copied(transfer &t) {
        if (!t.copy) return true;
        const revamp_status status = revamp_completion_wait_for(t.copy, 0);
        revamp::detail::check(status);
        if (status == REVAMP_TIMEOUT) return false;
        const revamp_completion over = std::exchange(t.copy, nullptr);
        const std::exception_ptr failure = revamp::detail::exception_of(revamp_completion_get(over));
        (void)revamp_completion_release(over);
        if (failure) std::rethrow_exception(failure);
        return true;
    }
    // One by one, as each request has an error of its own.
    static bool arrived(std::vector<MPI_Request> &requests, const char *what) {
        for (; !requests.empty(); requests.pop_back()) {
            MPI_Status status = {};
            int done = 0;
            check(MPI_Test(&requests.back(), &done, &status), what);
            if (!done) return false;
        }
        return true;
    }

    // Tells the others what this rank has, and asks for theirs.
    static void ask(transfer &t) {
        const int size = static_cast<int>(t.mine.size());
        t.mine = t.elements.to_header(t.kind);
        if (t.way == direction::collective) {
            t.low[0] = t.mine;
            for (std::size_t i = 0; i < t.mine.size(); ++i)
                t.low[1][i] = -t.mine[i];
            t.asked.resize(1);
            check(MPI_Iallreduce(t.low, t.lowest, 2 * size, MPI_LONG_LONG, MPI_MIN, t.of->asks, &t.asked[0]),
                  "MPI_Iallreduce");
            return;
        }
        const bool sends = t.way == direction::send;
        t.asked.resize(2, MPI_REQUEST_NULL);
        check(MPI_Isend(t.mine.data(), size, MPI_LONG_LONG, t.peer, t.tag, sends ? t.of->asks : t.of->answers,
                        &t.asked[0]),
              "MPI_Isend");
        check(MPI_Irecv(t.theirs.data(), size, MPI_LONG_LONG, t.peer, t.tag, sends ? t.of->answers : t.of->asks,
                        &t.asked[1]),
              "MPI_Irecv");
    }
    // What both ranks find, in the same words.
    static void compare(const transfer &t) {
        const std::string where = ", tag " + std::to_string(t.tag);
        if (t.way == direction::collective) {
            header most = {};
            for (std::size_t i = 0; i < most.size(); ++i)
                most[i] = -t.lowest[1][i];
            if (t.lowest[0] != most)
                throw error("the ranks pass different elements to a collective operation: from " +
                            text_of(t.lowest[0]) + " to " + text_of(most) + "; this rank has " + text_of(t.mine));
            return;
        }
        if (t.mine == t.theirs) return;
        const bool sends = t.way == direction::send;
        const header &sent = sends ? t.mine : t.theirs, &received = sends ? t.theirs : t.mine;
        throw error("rank " + std::to_string(sends ? t.of->rank : t.peer) + " sends " + text_of(sent) + ", rank " +
                    std::to_string(sends ? t.peer : t.of->rank) + " receives " + text_of(received) + where);
    }

    // MPI pairs messages of the same ranks and tag in their order: so they are given to it in the order of the calls.
    bool is_next(const transfer &t) const {
        for (const std::shared_ptr<transfer> &other : m_pending) {
            if (other.get() == &t) return true;
            if (!other->posted && !other->done && other->of == t.of && other->way == t.way &&
                (t.way == direction::collective || (other->peer == t.peer && other->tag == t.tag)))
                return false;
        }
        return true;
    }

    void post(transfer &t) {
        if (!t.memory) t.memory = take(t.elements);
        unsigned char *memory = t.memory->data(t.unpacks ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ);
        const auto begun = [&t](auto &&call) {
            MPI_Request started = MPI_REQUEST_NULL;
            check(call(&started), "the start of a message");
            t.moving.push_back(started);
        };
        if (t.way == direction::send) {
            // The last piece is shorter than the others, if need be empty: so a receive knows where a message ends,
            // even one of another length.
            const std::size_t bytes = t.elements.bytes();
            for (std::size_t at = 0; at <= bytes; at += most_of_a_piece) {
                const int size = static_cast<int>((std::min)(most_of_a_piece, bytes - at));
                begun([&](MPI_Request *started) {
                    return MPI_Isend(memory + at, size, MPI_BYTE, t.peer, t.tag, t.of->comm, started);
                });
            }
        } else {
            const std::size_t count = t.elements.count();
            const std::size_t most = (std::max)(std::size_t{1}, most_of_a_piece / t.elements.element);
            for (std::size_t before = 0; before < count; before += most)
                begun([&](MPI_Request *started) {
                    return t.move(memory + before * t.elements.element, before, (std::min)(most, count - before),
                                  started);
                });
        }
        t.posted = true;
    }

    // Receives the pieces of a message that have been sent: true once that is all. Asked for their length first, since
    // Open MPI 4.1 writes a message beyond the memory of a receive that is too short.
    bool match(transfer &t) {
        if (!t.memory) t.memory = take(t.elements);
        for (;;) {
            int found = 0, size = 0;
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Status status = {};
            check(MPI_Improbe(t.peer, t.tag, t.of->comm, &found, &message, &status), "MPI_Improbe");
            if (!found) return false;
            check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
            const std::size_t bytes = static_cast<std::size_t>(size);
            const bool has_room = t.found + bytes <= t.elements.bytes();
            unsigned char *const at = has_room ? t.memory->data(REVAMP_ACCESS_READ_WRITE) + t.found
                                               : t.without_room.emplace_back(bytes).data();
            MPI_Request started = MPI_REQUEST_NULL;
            check(MPI_Imrecv(at, size, MPI_BYTE, &message, &started), "MPI_Imrecv");
            t.moving.push_back(started);
            t.found += bytes;
            if (bytes < most_of_a_piece) return true;
        }
    }

    static void check_count(const transfer &t) {
        if (t.way != direction::receive || t.dropped || t.found == t.elements.bytes()) return;
        throw error("rank " + std::to_string(t.peer) + " sent " + std::to_string(t.found) + " bytes, rank " +
                    std::to_string(t.of->rank) + " receives " + std::to_string(t.elements.bytes()) + ", tag " +
                    std::to_string(t.tag) + "; with REVAMP_CHECK=1 the error names both ranks");
    }

    // Goes as far as it goes without waiting.
    bool step(transfer &t) {
        bool moved = false;
        if (!t.agreed) {
            if (!arrived(t.asked, "the exchange of extents")) return false;
            compare(t);
            t.agreed = moved = true;
        }
        if (!t.posted) {
            if (!copied(t) || !is_next(t)) return moved;
            if (t.way != direction::receive) {
                post(t);
            } else if (m_is_closing && t.dropped) {
                // What was matched is received; the rest no rank will send.
                t.posted = true;
            } else if (!match(t)) {
                return moved;
            } else {
                t.posted = true;
            }
            moved = true;
        }
        if (!t.unpacking) {
            if (!arrived(t.moving, "a message")) return moved;
            check_count(t);
            if (t.unpacks && !t.dropped) begin_copy(t, t.memory->region(), t.region);
            t.unpacking = moved = true;
        }
        if (copied(t)) t.done = moved = true;
        return moved;
    }
};

// How long a wait looks without a pause: a thread that sleeps wakes up some 70 us late.
constexpr std::chrono::milliseconds eager_time{2};

// Drives all operations until `done()`, which is asked with calls() locked.
template <class Done> void drive(Done done) {
    for (auto idle_since = std::chrono::steady_clock::now();;) {
        bool moved = false;
        {
            std::lock_guard<std::mutex> lock(calls());
            if (done()) return;
            moved = engine::one().progress();
            if (done()) return;
        }
        const auto now = std::chrono::steady_clock::now();
        if (moved) idle_since = now;
        // Ranks may be more than processors.
        if (now - idle_since < eager_time)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

template <class T> struct datatype { static constexpr bool known = false; };
#define REVAMP_MPI_TYPE(Type, Name)                                                                                    \
    template <> struct datatype<Type> {                                                                                \
        static constexpr bool known = true;                                                                            \
        static MPI_Datatype get() { return Name; }                                                                     \
    };
REVAMP_MPI_TYPE(int, MPI_INT)
REVAMP_MPI_TYPE(unsigned, MPI_UNSIGNED)
REVAMP_MPI_TYPE(long, MPI_LONG)
REVAMP_MPI_TYPE(unsigned long, MPI_UNSIGNED_LONG)
REVAMP_MPI_TYPE(long long, MPI_LONG_LONG)
REVAMP_MPI_TYPE(unsigned long long, MPI_UNSIGNED_LONG_LONG)
REVAMP_MPI_TYPE(float, MPI_FLOAT)
REVAMP_MPI_TYPE(double, MPI_DOUBLE)
#undef REVAMP_MPI_TYPE

inline MPI_Op op_of(operation op) {
    switch (op) {
    case operation::sum:
        return MPI_SUM;
    case operation::product:
        return MPI_PROD;
    case operation::minimum:
        return MPI_MIN;
    default:
        return MPI_MAX;
    }
}

inline bool check_is_asked_for() {
    const char *value = std::getenv("REVAMP_CHECK");
    if (!value) return false;
    std::string text(value);
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t'; }), text.end());
    return text == "1";
}

// The accelerators of the ranks of one machine, given what each sees, in its order: those that fewest have.
inline std::vector<std::string> share_out(const std::vector<std::vector<std::string>> &visible) {
    std::map<std::string, int> users;
    std::vector<std::string> taken;
    for (const std::vector<std::string> &list : visible) {
        std::string best;
        for (const std::string &path : list)
            if (best.empty() || users[path] < users[best]) best = path;
        if (!best.empty()) ++users[best];
        taken.push_back(best);
    }
    return taken;
}

} // namespace detail

// Operations under way; one object may hold many. What it is about must live until wait() has returned; array_views
// see to that themselves.
class [[nodiscard, gnu::visibility("default")]] request {
  public:
    request() = default;
    request(request &&) noexcept = default;
    request &operator=(request &&other) {
        if (this == &other) return *this;
        leave();
        m_all = std::move(other.m_all);
        other.m_all.clear();
        return *this;
    }
    ~request() {
        leave();
    }

    // Waits until all are done, and meanwhile drives every operation of the process. Throws what made one fail.
    void wait() {
        finish();
        std::exception_ptr failure;
        for (const std::shared_ptr<detail::transfer> &t : m_all)
            if (t->failure && !failure) failure = t->failure;
        m_all.clear();
        if (failure) std::rethrow_exception(failure);
    }
    // Whether wait() would return at once; drives every operation of the process.
    bool is_done() const {
        std::lock_guard<std::mutex> lock(calls());
        detail::engine::one().progress();
        return all_done();
    }
    // Takes over what `other` holds.
    request &operator+=(request &&other) {
        m_all.insert(m_all.end(), other.m_all.begin(), other.m_all.end());
        other.m_all.clear();
        return *this;
    }

  private:
    std::vector<std::shared_ptr<detail::transfer>> m_all;

    bool all_done() const {
        return std::all_of(m_all.begin(), m_all.end(),
                           [](const std::shared_ptr<detail::transfer> &t) { return t->done; });
    }
    void finish() const {
        {
            // Kernels launched before begin now: MPI may take long.
            std::lock_guard<std::mutex> lock(calls());
            if (all_done()) return;
            for (const Concurrency::accelerator_view &device : detail::engine::one().device)
                try {
                    device.flush();
                } catch (const Concurrency::runtime_exception &) {
                    // The copies of the messages tell of it.
                }
        }
        detail::drive([this] { return all_done(); });
    }
    // Without wait(): in an exception the other rank may never do its part, so nothing is waited for.
    void leave() noexcept {
        if (m_all.empty()) return;
        if (std::uncaught_exceptions() == 0) {
            try {
                finish();
            } catch (...) {
                // As wait() was not called, nobody asked.
            }
        } else {
            std::lock_guard<std::mutex> lock(calls());
            for (const std::shared_ptr<detail::transfer> &t : m_all)
                t->dropped = true;
        }
        m_all.clear();
    }
    friend class communicator;
};

// Ranks that exchange with each other; copies are the same communicator. All functions may be called by several
// threads.
class REVAMP_VISIBLE communicator {
  public:
    int rank() const { return m_group->rank; }
    int size() const { return m_group->size; }
    // A duplicate of what the communicator was made of.
    MPI_Comm handle() const { return m_group->comm; }

    // The ranks that give the same colour, in order of their keys. All ranks call it.
    communicator split(int colour, int key = 0) const {
        std::lock_guard<std::mutex> lock(calls());
        detail::check_is_open(*m_group);
        MPI_Comm part = MPI_COMM_NULL;
        detail::check(MPI_Comm_split(m_group->comm, colour, key, &part), "MPI_Comm_split");
        communicator made(std::make_shared<detail::group>(part, m_group->checks));
        MPI_Comm_free(&part);
        detail::engine::one().groups.push_back(made.m_group);
        return made;
    }

    // Messages. `to` and `from` may be MPI_PROC_NULL: then nothing happens, as at the edge of a grid. The data are
    // those at the time of the call; later kernels may write them when the request is done.
    template <class T, int N> request send(const Concurrency::array_view<T, N> &data, int to, int tag = 0) const {
        return message(detail::direction::send, kept(data), shape_of<T>(data.extent), revamp::detail::region_of(data),
                       to, tag);
    }
    template <class T, int N> request send(const Concurrency::array<T, N> &data, int to, int tag = 0) const {
        return message(detail::direction::send, nullptr, shape_of<T>(data.extent), revamp::detail::region_of(data), to,
                       tag);
    }
    template <class T, int N> request receive(const Concurrency::array_view<T, N> &data, int from, int tag = 0) const {
        static_assert(!std::is_const_v<T>, "an array_view of const elements cannot receive");
        return message(detail::direction::receive, kept(data), shape_of<T>(data.extent),
                       revamp::detail::region_of(data), from, tag);
    }
    template <class T, int N> request receive(Concurrency::array<T, N> &data, int from, int tag = 0) const {
        return message(detail::direction::receive, nullptr, shape_of<T>(data.extent), revamp::detail::region_of(data),
                       from, tag);
    }
    // Both at once.
    template <class Sent, class Received>
    request exchange(const Sent &sent, int to, Received &&received, int from, int tag = 0) const {
        request both = receive(received, from, tag);
        both += send(sent, to, tag);
        return both;
    }

    // Collective operations: all ranks call them, in the same order. Each element by itself.
    template <class T, int N> request all_reduce(const Concurrency::array_view<T, N> &data, operation op) const {
        static_assert(detail::datatype<T>::known, "the elements of a reduction must be numbers and not const");
        const MPI_Comm comm = m_group->comm;
        return collective(data, 10 + static_cast<int>(op), true, true,
                          [comm, op](unsigned char *at, std::size_t, std::size_t count, MPI_Request *started) {
                              return MPI_Iallreduce(MPI_IN_PLACE, at, static_cast<int>(count),
                                                    detail::datatype<T>::get(), detail::op_of(op), comm, started);
                          });
    }
    // The result is the root's; what the others have stays.
    template <class T, int N>
    request reduce(const Concurrency::array_view<T, N> &data, operation op, int root = 0) const {
        static_assert(detail::datatype<T>::known, "the elements of a reduction must be numbers and not const");
        const MPI_Comm comm = m_group->comm;
        const bool here = rank() == root;
        return collective(data, 20 + static_cast<int>(op) + 100 * static_cast<long long>(root), true, here,
                          [=](unsigned char *at, std::size_t, std::size_t count, MPI_Request *started) {
                              return MPI_Ireduce(here ? MPI_IN_PLACE : at, here ? at : nullptr, static_cast<int>(count),
                                                 detail::datatype<T>::get(), detail::op_of(op), root, comm, started);
                          });
    }
    template <class T, int N> request broadcast(const Concurrency::array_view<T, N> &data, int root = 0) const {
        static_assert(!std::is_const_v<T>, "an array_view of const elements cannot receive");
        const MPI_Comm comm = m_group->comm;
        const bool here = rank() == root;
        const std::size_t element = sizeof(T);
        return collective(data, 30 + 100 * static_cast<long long>(root), here, !here,
                          [=](unsigned char *at, std::size_t, std::size_t count, MPI_Request *started) {
                              return MPI_Ibcast(at, static_cast<int>(count * element), MPI_BYTE, root, comm, started);
                          });
    }
    // Of one number from each rank; returns when all have given theirs.
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> T all_reduce(T value, operation op) const {
        static_assert(detail::datatype<T>::known,
                      "the elements of a reduction must be integers or floating-point numbers of MPI");
        MPI_Request started = MPI_REQUEST_NULL;
        {
            std::lock_guard<std::mutex> lock(calls());
            detail::check_is_open(*m_group);
            detail::check(MPI_Iallreduce(MPI_IN_PLACE, &value, 1, detail::datatype<T>::get(), detail::op_of(op),
                                         m_group->comm, &started),
                          "MPI_Iallreduce");
        }
        complete(started);
        return value;
    }
    void barrier() const {
        MPI_Request started = MPI_REQUEST_NULL;
        {
            std::lock_guard<std::mutex> lock(calls());
            detail::check_is_open(*m_group);
            detail::check(MPI_Ibarrier(m_group->comm, &started), "MPI_Ibarrier");
        }
        complete(started);
    }

  private:
    std::shared_ptr<detail::group> m_group;

    explicit communicator(std::shared_ptr<detail::group> of) : m_group(std::move(of)) {}

    static void complete(MPI_Request &started) {
        detail::drive([&started] {
            int done = 0;
            detail::check(MPI_Test(&started, &done, MPI_STATUS_IGNORE), "MPI_Test");
            return done != 0;
        });
    }
    template <class T, int N> static std::shared_ptr<void> kept(const Concurrency::array_view<T, N> &data) {
        return std::make_shared<Concurrency::array_view<T, N>>(data);
    }
    template <class T, int N> static detail::shape shape_of(const Concurrency::extent<N> &extent) {
        int room[N];
        revamp::detail::views::values(extent, room);
        detail::shape made;
        made.extent.assign(room, room + N);
        made.element = sizeof(T);
        return made;
    }
    static request begin(const std::shared_ptr<detail::transfer> &t) {
        std::lock_guard<std::mutex> lock(calls());
        detail::engine::one().start(t);
        request made;
        made.m_all.push_back(t);
        return made;
    }
    request message(detail::direction way, std::shared_ptr<void> kept, const detail::shape &elements,
                    const revamp_region &region, int peer, int tag) const {
        const bool sends = way == detail::direction::send;
        if (peer != MPI_PROC_NULL && (peer < 0 || peer >= size()))
            throw error("there is no rank " + std::to_string(peer) + ": the communicator has " +
                        std::to_string(size()) + " ranks; MPI_ANY_SOURCE is not supported");
        if (tag < 0) throw error("tag " + std::to_string(tag) + " is negative: tags are 0 or more");
        auto t = std::make_shared<detail::transfer>();
        t->of = m_group;
        t->way = way;
        t->peer = peer;
        t->tag = tag;
        t->elements = elements;
        t->region = region;
        t->kept = std::move(kept);
        t->packs = sends;
        t->unpacks = !sends;
        return begin(t);
    }
    template <class T, int N, class Move>
    request collective(const Concurrency::array_view<T, N> &data, long long kind, bool packs, bool unpacks,
                       Move move) const {
        auto t = std::make_shared<detail::transfer>();
        t->of = m_group;
        t->way = detail::direction::collective;
        t->elements = shape_of<T>(data.extent);
        t->kind = kind;
        t->region = revamp::detail::region_of(data);
        t->kept = kept(data);
        t->packs = packs;
        t->unpacks = unpacks;
        t->move = move;
        return begin(t);
    }
    friend class session;
};

// The use of MPI by a program, from its start to its end: made first in main(), so that what is made after it is gone
// before. Begins MPI unless the program did, asks for MPI_THREAD_SERIALIZED, and gives the rank its accelerator, which
// is accelerator() from then on. The end releases all that MPI must not find, and ends MPI if it began it.
class REVAMP_VISIBLE session {
  public:
    session() : session(nullptr, nullptr) {}
    session(int &argc, char **&argv) : session(&argc, &argv) {}
    session(const session &) = delete;
    session &operator=(const session &) = delete;
    ~session() {
        if (std::uncaught_exceptions() > m_exceptions) {
            // The other ranks would wait for this one for ever.
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        std::lock_guard<std::mutex> lock(calls());
        detail::engine::one().close();
        if (m_began) MPI_Finalize();
    }

    const communicator &world() const { return m_world.front(); }
    // Among the ranks on this machine.
    int local_rank() const { return m_local_rank; }
    int local_size() const { return m_local_size; }
    const Concurrency::accelerator &accelerator() const { return m_accelerator.front(); }

  private:
    bool m_began = false;
    int m_local_rank = 0, m_local_size = 1;
    const int m_exceptions = std::uncaught_exceptions();
    std::vector<communicator> m_world;
    std::vector<Concurrency::accelerator> m_accelerator;

    session(int *argc, char ***argv) {
        std::lock_guard<std::mutex> lock(calls());
        detail::engine &all = detail::engine::one();
        if (all.is_open)
            throw error("this process already has a session, and only one can exist at a time: pass it on");
        begin(argc, argv);
        try {
            choose();
            int checks = detail::check_is_asked_for();
            detail::check(MPI_Allreduce(MPI_IN_PLACE, &checks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
            m_world.push_back(communicator(std::make_shared<detail::group>(MPI_COMM_WORLD, checks != 0)));
            all.groups.push_back(m_world.front().m_group);
            all.device.push_back(m_accelerator.front().get_default_view());
            all.is_open = true;
        } catch (const std::exception &failure) {
            // The other ranks wait for this one already.
            std::cerr << "revamp: the start of MPI failed on a rank: " << failure.what() << std::endl;
            MPI_Abort(MPI_COMM_WORLD, 1);
            throw;
        }
    }

    void begin(int *argc, char ***argv) {
        int is_there = 0, is_over = 0, level = 0;
        detail::check(MPI_Finalized(&is_over), "MPI_Finalized");
        if (is_over)
            throw error("MPI_Finalize was already called, and MPI can start only once in a process: create one session "
                        "for the whole program");
        detail::check(MPI_Initialized(&is_there), "MPI_Initialized");
        if (is_there) {
            detail::check(MPI_Query_thread(&level), "MPI_Query_thread");
        } else {
            detail::check(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
            m_began = true;
        }
        if (level < MPI_THREAD_SERIALIZED) {
            if (m_began) MPI_Finalize();
            throw error("MPI_THREAD_SERIALIZED or more is required, but MPI provides level " + std::to_string(level) +
                        (is_there ? "; the program called MPI_Init or requested less: call MPI_Init_thread with "
                                    "MPI_THREAD_SERIALIZED"
                                  : ""));
        }
    }

    // Threads for host threads, so that the ranks of a machine together have as many as it has processors.
    void limit_threads() const {
        cpu_set_t mine;
        const long there = sysconf(_SC_NPROCESSORS_ONLN);
        if (std::getenv("REVAMP_HOST_THREADS") || there < 1 || sched_getaffinity(0, sizeof mine, &mine) != 0) return;
        const int share = (std::max)(1, static_cast<int>(there) / m_local_size);
        // Where the launcher has bound the ranks already, the library counts what it is bound to.
        if (CPU_COUNT(&mine) > share) setenv("REVAMP_HOST_THREADS", std::to_string(share).c_str(), 0);
    }

    void choose() {
        MPI_Comm here = MPI_COMM_NULL;
        detail::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here),
                      "MPI_Comm_split_type");
        detail::check(MPI_Comm_rank(here, &m_local_rank), "MPI_Comm_rank");
        detail::check(MPI_Comm_size(here, &m_local_size), "MPI_Comm_size");
        limit_threads();

        // Paths of the devices that this rank sees, a line each: they name a device on all ranks alike.
        std::string mine;
        const char *named = std::getenv("CPPAMP_DEFAULT_ACCELERATOR");
        if (!named || !*named)
            for (const Concurrency::accelerator &a : Concurrency::accelerator::get_all())
                if (!a.is_emulated && a.device_path != Concurrency::accelerator::cpu_accelerator)
                    mine += revamp::detail::narrow(a.device_path) + "\n";
        int length = static_cast<int>(mine.size());
        std::vector<int> lengths(static_cast<std::size_t>(m_local_size)), starts(lengths.size());
        detail::check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, here), "MPI_Allgather");
        std::size_t sum = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            starts[i] = static_cast<int>(sum);
            sum += static_cast<std::size_t>(lengths[i]);
        }
        std::string all(sum, '\0');
        detail::check(
            MPI_Allgatherv(&mine[0], length, MPI_CHAR, &all[0], lengths.data(), starts.data(), MPI_CHAR, here),
            "MPI_Allgatherv");
        MPI_Comm_free(&here);

        std::vector<std::vector<std::string>> visible(lengths.size());
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            const std::size_t end = static_cast<std::size_t>(starts[i]) + static_cast<std::size_t>(lengths[i]);
            for (std::size_t at = static_cast<std::size_t>(starts[i]); at < end;) {
                const std::size_t line = all.find('\n', at);
                visible[i].push_back(all.substr(at, line - at));
                at = line + 1;
            }
        }
        const std::string path = detail::share_out(visible)[static_cast<std::size_t>(m_local_rank)];
        if (!path.empty()) {
            const std::wstring wide = revamp::detail::widen(path.c_str());
            Concurrency::accelerator::set_default(wide);
            m_accelerator.push_back(Concurrency::accelerator(wide));
        } else {
            m_accelerator.push_back(Concurrency::accelerator());
        }
    }
};

} // namespace mpi
} // namespace REVAMP_ABI
} // namespace revamp

#endif // REVAMP_MPI_HPP
