// revamp: combines C++ AMP with MPI (docs/mpi.md). Chooses an accelerator for each rank, sends sections of array_views
// as messages, and reduces data. No other part of revamp needs MPI.
//
// SPDX-License-Identifier: MIT OR Apache-2.0

#ifndef REVAMP_MPI_HPP
#define REVAMP_MPI_HPP

#include <amp.h>

// Excludes MPI's old C++ bindings, which need additional libraries.
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
#include <iterator>
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

// The maximum number of bytes in one MPI message: MPI counts in int. Larger data are sent as several messages. All
// ranks must use the same value.
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

// An error of MPI, or a mismatch between ranks.
class REVAMP_VISIBLE error : public Concurrency::runtime_exception {
  public:
    explicit error(const std::string &text) noexcept : runtime_exception(text.c_str(), revamp::detail::failed) {}
};

// This header initializes MPI with MPI_THREAD_SERIALIZED, which allows one call at a time. While other threads use the
// header, the program must hold this mutex around its own calls of MPI.
inline std::mutex &calls() {
    static std::mutex instance;
    return instance;
}

namespace detail {

inline void check(int code, const char *what) {
    if (code == MPI_SUCCESS) return;
    char text[MPI_MAX_ERROR_STRING + 1] = {};
    int length = 0;
    MPI_Error_string(code, text, &length);
    throw error(std::string(what) + ": " + text);
}

// While an object of this class exists, the error handlers of MPI_COMM_WORLD and MPI_COMM_SELF return errors. MPI may
// call these handlers for requests of any communicator; MPICH does so for messages that are too long.
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

// The values that must be equal on both sides of a message: number of dimensions, bytes of an element, kind, extent.
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
            // If there are more dimensions than values, the last value is a hash of the remaining dimensions.
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
    return text + ") with elements of " + std::to_string(h[1]) + " bytes";
}

// A staging array: host memory that the accelerator copies from and to directly, and that MPI sends and receives.
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

// An MPI communicator with its state. With REVAMP_CHECK=1, the ranks compare headers. Headers of senders and collective
// operations travel on the duplicate `sender_headers`, those of receivers on the duplicate `receiver_headers`.
struct group {
    MPI_Comm comm = MPI_COMM_NULL, sender_headers = MPI_COMM_NULL, receiver_headers = MPI_COMM_NULL;
    int rank = 0, size = 1;
    bool checks = false;

    group(MPI_Comm of, bool check_extents) : checks(check_extents) {
        for (MPI_Comm *made : {&comm, &sender_headers, &receiver_headers}) {
            check(MPI_Comm_dup(of, made), "MPI_Comm_dup");
            check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
            if (!checks) break;
        }
        check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
        check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
    }
    group(const group &) = delete;
    void release() {
        for (MPI_Comm *made : {&comm, &sender_headers, &receiver_headers})
            if (*made != MPI_COMM_NULL) MPI_Comm_free(made);
    }
};

inline void check_is_open(const group &g) {
    if (g.comm == MPI_COMM_NULL)
        throw error("the MPI session has ended; keep the session alive while communicators are used");
}

enum class direction : long long { send, receive, collective };

// An operation in progress: the accelerator packs the data into staging memory, MPI moves them, and the accelerator
// unpacks them.
struct transfer {
    std::shared_ptr<group> ranks;
    direction transfer_direction = direction::send;
    int other_rank = MPI_PROC_NULL, tag = 0;
    shape elements;
    long long kind = 0;
    revamp_region region = {};
    std::shared_ptr<void> kept_view; // the array_view, which must live until the operation is done
    bool packs = false, unpacks = false;
    // Starts a piece of a collective operation: `count` elements at `memory`. Earlier pieces have `before` elements.
    std::function<int(unsigned char *memory, std::size_t before, std::size_t count, MPI_Request *started)>
        start_collective_piece;

    std::unique_ptr<staging> memory;
    revamp_completion copy = nullptr;
    header mine = {}, theirs = {};
    header header_and_negation[2] = {}, minima[2] = {};
    std::vector<MPI_Request> header_requests, message_requests;
    std::size_t matched_bytes = 0;                  // bytes of the pieces that this receive has found
    std::list<std::vector<unsigned char>> overflow; // pieces that do not fit into `memory`
    bool headers_match = false, posted = false, messages_arrived = false, done = false, abandoned = false;
    bool is_lost = false; // MPI may still use the buffers, for requests that were freed before they were complete
    std::exception_ptr failure;

    transfer() = default;
    transfer(const transfer &) = delete;
    ~transfer() {
        if (copy) (void)revamp_completion_release(copy);
    }
};

constexpr std::size_t max_piece_bytes = REVAMP_MPI_PIECE;

// All operations of the process. Callers must hold the mutex calls().
class engine {
  public:
    static engine &instance() {
        // Not destroyed: requests may be in static objects.
        static engine &only = *new engine;
        return only;
    }

    bool is_open = false;
    std::vector<std::shared_ptr<group>> groups;
    std::vector<Concurrency::accelerator_view> device; // has one element while a session is open
    // Failed operations whose buffers MPI may use until MPI_Finalize.
    std::list<std::shared_ptr<transfer>> lost;

    void start(const std::shared_ptr<transfer> &t) {
        check_is_open(*t->ranks);
        if (t->transfer_direction != direction::collective && t->other_rank == MPI_PROC_NULL) {
            t->done = true;
            return;
        }
        m_pending.push_back(t);
        try {
            if (t->ranks->checks)
                exchange_headers(*t);
            else
                t->headers_match = true;
            if (t->packs) {
                t->memory = take(t->elements);
                begin_copy(*t, t->region, t->memory->region());
            }
        } catch (...) {
            const errors_return error_handlers;
            give_up(*t);
            remove(std::prev(m_pending.end()));
            throw;
        }
        progress();
    }

    // Advances all operations without waiting. True if any of them advanced.
    bool progress() {
        bool moved = false;
        if (m_pending.empty()) return moved;
        const errors_return error_handlers;
        for (auto at = m_pending.begin(); at != m_pending.end();) {
            transfer &t = **at;
            try {
                if (t.failure)
                    t.done = is_copy_done(t);
                else
                    moved |= step(t);
            } catch (...) {
                if (!t.failure) t.failure = std::current_exception();
                give_up(t);
            }
            if (t.done) {
                if (t.memory && !t.failure) give_back(t.elements, std::move(t.memory));
                at = remove(at);
                moved = true;
            } else {
                ++at;
            }
        }
        return moved;
    }

    // Completes all operations, and releases all objects that must be gone before MPI_Finalize.
    void close() {
        // Cancels receives that the program abandoned during an exception, because their messages may never be sent.
        m_is_closing = true;
        for (const std::shared_ptr<transfer> &t : m_pending)
            if (t->abandoned && t->transfer_direction == direction::receive)
                for (MPI_Request &r : t->header_requests)
                    if (r != MPI_REQUEST_NULL) MPI_Cancel(&r);
        while (!m_pending.empty()) {
            if (!progress()) std::this_thread::yield();
        }
        m_idle.clear();
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
    static constexpr std::size_t max_idle_bytes = std::size_t{256} << 20;

    std::unique_ptr<staging> take(const shape &of) {
        std::vector<std::unique_ptr<staging>> &idle = m_idle[of];
        if (idle.empty()) return std::make_unique<staging>(device.front(), of);
        std::unique_ptr<staging> found = std::move(idle.back());
        idle.pop_back();
        m_idle_bytes -= of.bytes();
        return found;
    }
    void give_back(const shape &of, std::unique_ptr<staging> memory) {
        if (m_idle_bytes + of.bytes() > max_idle_bytes) return;
        m_idle_bytes += of.bytes();
        m_idle[of].push_back(std::move(memory));
    }

    // Abandons an operation that has failed. If a copy is in progress, progress() waits for it.
    static void give_up(transfer &t) {
        for (std::vector<MPI_Request> *all : {&t.header_requests, &t.message_requests})
            for (MPI_Request &r : *all)
                if (r != MPI_REQUEST_NULL) {
                    MPI_Request_free(&r);
                    t.is_lost = true;
                }
    }
    // Removes an operation that is done or given up. Returns the position after it.
    std::list<std::shared_ptr<transfer>>::iterator remove(std::list<std::shared_ptr<transfer>>::iterator at) {
        if (!(*at)->is_lost) return m_pending.erase(at);
        const auto next = std::next(at);
        // Only the buffers must stay: the array_view must not outlive the program's data.
        (*at)->kept_view.reset();
        lost.splice(lost.end(), m_pending, at);
        return next;
    }

    static void begin_copy(transfer &t, const revamp_region &source, const revamp_region &destination) {
        revamp::detail::check(revamp_copy_async(&source, &destination, nullptr, &t.copy));
    }
    // True if no copy is in progress. If the copy failed, throws its exception.
    static bool is_copy_done(transfer &t) {
        if (!t.copy) return true;
        const revamp_status status = revamp_completion_wait_for(t.copy, 0);
        revamp::detail::check(status);
        if (status == REVAMP_TIMEOUT) return false;
        const revamp_completion completed = std::exchange(t.copy, nullptr);
        const std::exception_ptr failure = revamp::detail::exception_of(revamp_completion_get(completed));
        (void)revamp_completion_release(completed);
        if (failure) std::rethrow_exception(failure);
        return true;
    }
    // True if all requests are complete. Tests them one by one, because each has an error of its own.
    static bool are_complete(std::vector<MPI_Request> &requests, const char *what) {
        for (; !requests.empty(); requests.pop_back()) {
            MPI_Status status = {};
            int done = 0;
            check(MPI_Test(&requests.back(), &done, &status), what);
            if (!done) return false;
        }
        return true;
    }

    // Sends the header of this rank to the other ranks, and requests their headers.
    static void exchange_headers(transfer &t) {
        const int size = static_cast<int>(t.mine.size());
        t.mine = t.elements.to_header(t.kind);
        if (t.transfer_direction == direction::collective) {
            t.header_and_negation[0] = t.mine;
            for (std::size_t i = 0; i < t.mine.size(); ++i)
                t.header_and_negation[1][i] = -t.mine[i];
            t.header_requests.resize(1, MPI_REQUEST_NULL);
            check(MPI_Iallreduce(t.header_and_negation, t.minima, 2 * size, MPI_LONG_LONG, MPI_MIN,
                                 t.ranks->sender_headers, &t.header_requests[0]),
                  "MPI_Iallreduce");
            return;
        }
        const bool sends = t.transfer_direction == direction::send;
        t.header_requests.resize(2, MPI_REQUEST_NULL);
        check(MPI_Isend(t.mine.data(), size, MPI_LONG_LONG, t.other_rank, t.tag,
                        sends ? t.ranks->sender_headers : t.ranks->receiver_headers, &t.header_requests[0]),
              "MPI_Isend");
        check(MPI_Irecv(t.theirs.data(), size, MPI_LONG_LONG, t.other_rank, t.tag,
                        sends ? t.ranks->receiver_headers : t.ranks->sender_headers, &t.header_requests[1]),
              "MPI_Irecv");
    }
    // Throws if the headers differ. All ranks describe the difference in the same words.
    static void compare(const transfer &t) {
        const std::string where = ", tag " + std::to_string(t.tag);
        if (t.transfer_direction == direction::collective) {
            header maxima = {};
            for (std::size_t i = 0; i < maxima.size(); ++i)
                maxima[i] = -t.minima[1][i];
            if (t.minima[0] != maxima)
                throw error("the ranks pass different elements to a collective operation: from " +
                            text_of(t.minima[0]) + " to " + text_of(maxima) + "; this rank has " + text_of(t.mine));
            return;
        }
        if (t.mine == t.theirs) return;
        const bool sends = t.transfer_direction == direction::send;
        const header &sent = sends ? t.mine : t.theirs, &received = sends ? t.theirs : t.mine;
        throw error("rank " + std::to_string(sends ? t.ranks->rank : t.other_rank) + " sends " + text_of(sent) +
                    ", rank " + std::to_string(sends ? t.other_rank : t.ranks->rank) + " receives " +
                    text_of(received) + where);
    }

    // True if no earlier operation must be posted first. MPI matches messages of the same ranks and tag in order, so
    // they are posted in the order of the calls.
    bool is_next(const transfer &t) const {
        for (const std::shared_ptr<transfer> &other : m_pending) {
            if (other.get() == &t) return true;
            if (!other->posted && !other->done && other->ranks == t.ranks &&
                other->transfer_direction == t.transfer_direction &&
                (t.transfer_direction == direction::collective ||
                 (other->other_rank == t.other_rank && other->tag == t.tag)))
                return false;
        }
        return true;
    }

    void post(transfer &t) {
        if (!t.memory) t.memory = take(t.elements);
        unsigned char *memory = t.memory->data(t.unpacks ? REVAMP_ACCESS_READ_WRITE : REVAMP_ACCESS_READ);
        const auto start_piece = [&t](auto &&call) {
            check(call(&t.message_requests.emplace_back(MPI_REQUEST_NULL)), "the start of a message");
        };
        if (t.transfer_direction == direction::send) {
            // The last piece is shorter than the others, and may be empty. A receive therefore finds the end of a
            // message even if it expects another length.
            const std::size_t bytes = t.elements.bytes();
            for (std::size_t at = 0; at <= bytes; at += max_piece_bytes) {
                const int size = static_cast<int>((std::min)(max_piece_bytes, bytes - at));
                start_piece([&](MPI_Request *started) {
                    return MPI_Isend(memory + at, size, MPI_BYTE, t.other_rank, t.tag, t.ranks->comm, started);
                });
            }
        } else {
            const std::size_t count = t.elements.count();
            const std::size_t piece_elements = (std::max)(std::size_t{1}, max_piece_bytes / t.elements.element);
            for (std::size_t before = 0; before < count; before += piece_elements)
                start_piece([&](MPI_Request *started) {
                    return t.start_collective_piece(memory + before * t.elements.element, before,
                                                    (std::min)(piece_elements, count - before), started);
                });
        }
        t.posted = true;
    }

    // Begins to receive the pieces of a message that have arrived. True after the last piece. Queries the length of a
    // piece first, because Open MPI 4.1 writes past the memory of a receive that is too short.
    bool match(transfer &t) {
        if (!t.memory) t.memory = take(t.elements);
        for (;;) {
            int found = 0, size = 0;
            MPI_Message message = MPI_MESSAGE_NULL;
            MPI_Status status = {};
            check(MPI_Improbe(t.other_rank, t.tag, t.ranks->comm, &found, &message, &status), "MPI_Improbe");
            if (!found) return false;
            check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
            const std::size_t bytes = static_cast<std::size_t>(size);
            const bool fits = t.matched_bytes + bytes <= t.elements.bytes();
            unsigned char *const at = fits ? t.memory->data(REVAMP_ACCESS_READ_WRITE) + t.matched_bytes
                                           : t.overflow.emplace_back(bytes).data();
            MPI_Request &started = t.message_requests.emplace_back(MPI_REQUEST_NULL);
            check(MPI_Imrecv(at, size, MPI_BYTE, &message, &started), "MPI_Imrecv");
            t.matched_bytes += bytes;
            if (bytes < max_piece_bytes) return true;
        }
    }

    static void check_count(const transfer &t) {
        if (t.transfer_direction != direction::receive || t.abandoned || t.matched_bytes == t.elements.bytes()) return;
        throw error("rank " + std::to_string(t.other_rank) + " sent " + std::to_string(t.matched_bytes) +
                    " bytes, rank " + std::to_string(t.ranks->rank) + " receives " +
                    std::to_string(t.elements.bytes()) + ", tag " + std::to_string(t.tag) +
                    "; with REVAMP_CHECK=1, both ranks get an error before data move");
    }

    // Advances an operation as far as possible without waiting. True if it advanced.
    bool step(transfer &t) {
        bool moved = false;
        if (!t.headers_match) {
            if (!are_complete(t.header_requests, "the exchange of extents")) return false;
            compare(t);
            t.headers_match = moved = true;
        }
        if (!t.posted) {
            if (!is_copy_done(t) || !is_next(t)) return moved;
            if (t.transfer_direction != direction::receive) {
                post(t);
            } else if (m_is_closing && t.abandoned) {
                // Only pieces that are already matched are received; no rank will send the other pieces.
                t.posted = true;
            } else if (!match(t)) {
                return moved;
            } else {
                t.posted = true;
            }
            moved = true;
        }
        if (!t.messages_arrived) {
            if (!are_complete(t.message_requests, "a message")) return moved;
            check_count(t);
            if (t.unpacks && !t.abandoned) begin_copy(t, t.memory->region(), t.region);
            t.messages_arrived = moved = true;
        }
        if (is_copy_done(t)) t.done = moved = true;
        return moved;
    }
};

// A wait polls for this time before it sleeps, because a sleeping thread wakes up about 70 us late.
constexpr std::chrono::milliseconds polling_time{2};

// Advances all operations until `done()` returns true. `done` is called with calls() locked.
template <class Done> void drive(Done done) {
    for (auto idle_since = std::chrono::steady_clock::now();;) {
        bool moved = false;
        {
            std::lock_guard<std::mutex> lock(calls());
            if (done()) return;
            moved = engine::instance().progress();
            if (done()) return;
        }
        const auto now = std::chrono::steady_clock::now();
        if (moved) idle_since = now;
        // Yields, because a machine may have more ranks than processors.
        if (now - idle_since < polling_time)
            std::this_thread::yield();
        else
            std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
}

template <class T> struct datatype { static constexpr bool is_supported = false; };
#define REVAMP_MPI_TYPE(Type, Name)                                                                                    \
    template <> struct datatype<Type> {                                                                                \
        static constexpr bool is_supported = true;                                                                     \
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

inline bool is_check_requested() {
    const char *value = std::getenv("REVAMP_CHECK");
    if (!value) return false;
    std::string text(value);
    text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return c == ' ' || c == '\t'; }), text.end());
    return text == "1";
}

// Chooses an accelerator for each rank of a machine. `visible` lists the accelerators that each rank sees. Each rank
// gets the first of those of its accelerators that have the fewest ranks so far.
inline std::vector<std::string> assign_accelerators(const std::vector<std::vector<std::string>> &visible) {
    std::map<std::string, int> users;
    std::vector<std::string> assigned;
    for (const std::vector<std::string> &list : visible) {
        std::string best;
        for (const std::string &path : list)
            if (best.empty() || users[path] < users[best]) best = path;
        if (!best.empty()) ++users[best];
        assigned.push_back(best);
    }
    return assigned;
}

} // namespace detail

// One or more operations in progress. Arrays that the operations use must live until wait() has returned. The request
// keeps array_views alive.
class [[nodiscard, gnu::visibility("default")]] request {
  public:
    request() = default;
    request(request &&) noexcept = default;
    request &operator=(request &&other) {
        if (this == &other) return *this;
        finish_or_abandon();
        m_all = std::move(other.m_all);
        other.m_all.clear();
        return *this;
    }
    ~request() {
        finish_or_abandon();
    }

    // Waits until the operations of this object are done, and advances all operations of the process meanwhile. Throws
    // the first failure.
    void wait() {
        finish();
        std::exception_ptr failure;
        for (const std::shared_ptr<detail::transfer> &t : m_all)
            if (t->failure && !failure) failure = t->failure;
        m_all.clear();
        if (failure) std::rethrow_exception(failure);
    }
    // True if wait() would return at once. Advances all operations of the process.
    bool is_done() const {
        std::lock_guard<std::mutex> lock(calls());
        detail::engine::instance().progress();
        return all_done();
    }
    // Takes over the operations of `other`.
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
            // Submits the launches of the program now, because the messages may take long.
            std::lock_guard<std::mutex> lock(calls());
            if (all_done()) return;
            for (const Concurrency::accelerator_view &device : detail::engine::instance().device)
                try {
                    device.flush();
                } catch (const Concurrency::runtime_exception &) {
                    // The copies of the messages report the failure.
                }
        }
        detail::drive([this] { return all_done(); });
    }
    // Finishes the operations. During stack unwinding, abandons them instead: the other rank may never do its part.
    void finish_or_abandon() noexcept {
        if (m_all.empty()) return;
        if (std::uncaught_exceptions() == 0) {
            try {
                finish();
            } catch (...) {
                // Ignored: the program did not call wait().
            }
        } else {
            std::lock_guard<std::mutex> lock(calls());
            for (const std::shared_ptr<detail::transfer> &t : m_all)
                t->abandoned = true;
        }
        m_all.clear();
    }
    friend class communicator;
};

// Ranks that communicate with each other. Copies are the same communicator. Several threads may use it concurrently.
class REVAMP_VISIBLE communicator {
  public:
    int rank() const { return m_group->rank; }
    int size() const { return m_group->size; }
    // A duplicate of the MPI communicator that this object was made from.
    MPI_Comm handle() const { return m_group->comm; }

    // A communicator of the ranks that give the same colour, in order of their keys. All ranks must call it.
    communicator split(int colour, int key = 0) const {
        std::lock_guard<std::mutex> lock(calls());
        detail::check_is_open(*m_group);
        MPI_Comm split_comm = MPI_COMM_NULL;
        detail::check(MPI_Comm_split(m_group->comm, colour, key, &split_comm), "MPI_Comm_split");
        communicator made(std::make_shared<detail::group>(split_comm, m_group->checks));
        MPI_Comm_free(&split_comm);
        detail::engine::instance().groups.push_back(made.m_group);
        return made;
    }

    // Messages. If `to` or `from` is MPI_PROC_NULL, as at the edge of a grid, nothing happens. A message has the values
    // that the data has during the call. Kernels may write the sent elements once the request is done.
    template <class T, int N> request send(const Concurrency::array_view<T, N> &data, int to, int tag = 0) const {
        return message(detail::direction::send, kept_view(data), shape_of<T>(data.extent),
                       revamp::detail::region_of(data), to, tag);
    }
    template <class T, int N> request send(const Concurrency::array<T, N> &data, int to, int tag = 0) const {
        return message(detail::direction::send, nullptr, shape_of<T>(data.extent), revamp::detail::region_of(data), to,
                       tag);
    }
    template <class T, int N> request receive(const Concurrency::array_view<T, N> &data, int from, int tag = 0) const {
        static_assert(!std::is_const_v<T>,
                      "an array_view of const elements cannot receive data; pass an array_view of non-const elements");
        return message(detail::direction::receive, kept_view(data), shape_of<T>(data.extent),
                       revamp::detail::region_of(data), from, tag);
    }
    template <class T, int N> request receive(Concurrency::array<T, N> &data, int from, int tag = 0) const {
        return message(detail::direction::receive, nullptr, shape_of<T>(data.extent), revamp::detail::region_of(data),
                       from, tag);
    }
    // Sends and receives at the same time.
    template <class Sent, class Received>
    request exchange(const Sent &sent, int to, Received &&received, int from, int tag = 0) const {
        request both = receive(received, from, tag);
        both += send(sent, to, tag);
        return both;
    }

    // Collective operations, element by element. All ranks must call the collective operations in the same order.
    template <class T, int N> request all_reduce(const Concurrency::array_view<T, N> &data, operation op) const {
        static_assert(detail::datatype<T>::is_supported, "a reduction needs an array_view of non-const numbers");
        const MPI_Comm comm = m_group->comm;
        return collective(data, 10 + static_cast<int>(op), true, true,
                          [comm, op](unsigned char *at, std::size_t, std::size_t count, MPI_Request *started) {
                              return MPI_Iallreduce(MPI_IN_PLACE, at, static_cast<int>(count),
                                                    detail::datatype<T>::get(), detail::op_of(op), comm, started);
                          });
    }
    // Only the root gets the result; the data of the other ranks stay unchanged.
    template <class T, int N>
    request reduce(const Concurrency::array_view<T, N> &data, operation op, int root = 0) const {
        static_assert(detail::datatype<T>::is_supported, "a reduction needs an array_view of non-const numbers");
        const MPI_Comm comm = m_group->comm;
        const bool is_root = rank() == root;
        return collective(data, 20 + static_cast<int>(op) + 100 * static_cast<long long>(root), true, is_root,
                          [=](unsigned char *at, std::size_t, std::size_t count, MPI_Request *started) {
                              return MPI_Ireduce(is_root ? MPI_IN_PLACE : at, is_root ? at : nullptr,
                                                 static_cast<int>(count), detail::datatype<T>::get(), detail::op_of(op),
                                                 root, comm, started);
                          });
    }
    template <class T, int N> request broadcast(const Concurrency::array_view<T, N> &data, int root = 0) const {
        static_assert(!std::is_const_v<T>,
                      "an array_view of const elements cannot receive data; pass an array_view of non-const elements");
        const MPI_Comm comm = m_group->comm;
        const bool is_root = rank() == root;
        const std::size_t element = sizeof(T);
        return collective(data, 30 + 100 * static_cast<long long>(root), is_root, !is_root,
                          [=](unsigned char *at, std::size_t, std::size_t count, MPI_Request *started) {
                              return MPI_Ibcast(at, static_cast<int>(count * element), MPI_BYTE, root, comm, started);
                          });
    }
    // Reduces one number of each rank. Returns when all ranks have called it.
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>> T all_reduce(T value, operation op) const {
        static_assert(detail::datatype<T>::is_supported,
                      "the elements of a reduction must be integers or floating-point numbers that MPI supports");
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
    template <class T, int N> static std::shared_ptr<void> kept_view(const Concurrency::array_view<T, N> &data) {
        return std::make_shared<Concurrency::array_view<T, N>>(data);
    }
    template <class T, int N> static detail::shape shape_of(const Concurrency::extent<N> &extent) {
        int extent_storage[N];
        revamp::detail::views::values(extent, extent_storage);
        detail::shape made;
        made.extent.assign(extent_storage, extent_storage + N);
        made.element = sizeof(T);
        return made;
    }
    static request begin(const std::shared_ptr<detail::transfer> &t) {
        std::lock_guard<std::mutex> lock(calls());
        detail::engine::instance().start(t);
        request made;
        made.m_all.push_back(t);
        return made;
    }
    request message(detail::direction transfer_direction, std::shared_ptr<void> kept_view,
                    const detail::shape &elements, const revamp_region &region, int other_rank, int tag) const {
        const bool sends = transfer_direction == detail::direction::send;
        if (other_rank != MPI_PROC_NULL && (other_rank < 0 || other_rank >= size()))
            throw error("there is no rank " + std::to_string(other_rank) + ": the communicator has " +
                        std::to_string(size()) + " ranks, numbered from 0; MPI_ANY_SOURCE is not supported");
        if (tag < 0) throw error("tag " + std::to_string(tag) + " is negative; tags must be 0 or more");
        auto t = std::make_shared<detail::transfer>();
        t->ranks = m_group;
        t->transfer_direction = transfer_direction;
        t->other_rank = other_rank;
        t->tag = tag;
        t->elements = elements;
        t->region = region;
        t->kept_view = std::move(kept_view);
        t->packs = sends;
        t->unpacks = !sends;
        return begin(t);
    }
    template <class T, int N, class Move>
    request collective(const Concurrency::array_view<T, N> &data, long long kind, bool packs, bool unpacks,
                       Move move) const {
        auto t = std::make_shared<detail::transfer>();
        t->ranks = m_group;
        t->transfer_direction = detail::direction::collective;
        t->elements = shape_of<T>(data.extent);
        t->kind = kind;
        t->region = revamp::detail::region_of(data);
        t->kept_view = kept_view(data);
        t->packs = packs;
        t->unpacks = unpacks;
        t->start_collective_piece = move;
        return begin(t);
    }
    friend class session;
};

// The lifetime of MPI in a program. Make the session first in main(), so that later objects are destroyed before it.
// The constructor initializes MPI with MPI_THREAD_SERIALIZED, unless the program did, and makes the accelerator of this
// rank the default accelerator. The destructor releases everything that must be gone before MPI_Finalize, and calls
// MPI_Finalize if the constructor initialized MPI.
class REVAMP_VISIBLE session {
  public:
    session() : session(nullptr, nullptr) {}
    session(int &argc, char **&argv) : session(&argc, &argv) {}
    session(const session &) = delete;
    session &operator=(const session &) = delete;
    ~session() {
        if (std::uncaught_exceptions() > m_exceptions) {
            // Otherwise the other ranks would wait for this rank forever.
            MPI_Abort(MPI_COMM_WORLD, 1);
        }
        std::lock_guard<std::mutex> lock(calls());
        detail::engine::instance().close();
        if (!m_initialized) return;
        MPI_Finalize();
        detail::engine::instance().lost.clear();
    }

    const communicator &world() const { return m_world.front(); }
    // The rank and size among the ranks on this machine.
    int local_rank() const { return m_local_rank; }
    int local_size() const { return m_local_size; }
    const Concurrency::accelerator &accelerator() const { return m_accelerator.front(); }

  private:
    bool m_initialized = false;
    int m_local_rank = 0, m_local_size = 1;
    const int m_exceptions = std::uncaught_exceptions();
    std::vector<communicator> m_world;
    std::vector<Concurrency::accelerator> m_accelerator;

    session(int *argc, char ***argv) {
        std::lock_guard<std::mutex> lock(calls());
        detail::engine &all = detail::engine::instance();
        if (all.is_open)
            throw error("this process already has a session, and only one can exist at a time; pass the existing "
                        "session to the code that needs one");
        begin(argc, argv);
        try {
            choose_accelerator();
            int checks = detail::is_check_requested();
            detail::check(MPI_Allreduce(MPI_IN_PLACE, &checks, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD), "MPI_Allreduce");
            m_world.push_back(communicator(std::make_shared<detail::group>(MPI_COMM_WORLD, checks != 0)));
            all.groups.push_back(m_world.front().m_group);
            all.device.push_back(m_accelerator.front().get_default_view());
            all.is_open = true;
        } catch (const std::exception &failure) {
            // The other ranks already wait for this rank.
            std::cerr << "revamp: the start of MPI failed on a rank: " << failure.what() << std::endl;
            MPI_Abort(MPI_COMM_WORLD, 1);
            throw;
        }
    }

    void begin(int *argc, char ***argv) {
        int is_initialized = 0, is_finalized = 0, level = 0;
        detail::check(MPI_Finalized(&is_finalized), "MPI_Finalized");
        if (is_finalized)
            throw error("MPI_Finalize was already called, and MPI can start only once in a process; create one session "
                        "for the whole program");
        detail::check(MPI_Initialized(&is_initialized), "MPI_Initialized");
        if (is_initialized) {
            detail::check(MPI_Query_thread(&level), "MPI_Query_thread");
        } else {
            detail::check(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
            m_initialized = true;
        }
        if (level < MPI_THREAD_SERIALIZED) {
            if (m_initialized) MPI_Finalize();
            throw error("MPI_THREAD_SERIALIZED or more is required, but MPI provides level " + std::to_string(level) +
                        (is_initialized ? "; the program must initialize MPI by MPI_Init_thread with "
                                          "MPI_THREAD_SERIALIZED"
                                        : ""));
        }
    }

    // Limits the host threads: all ranks of a machine together have about one host thread for each processor.
    void limit_threads() const {
        cpu_set_t mine;
        const long processors = sysconf(_SC_NPROCESSORS_ONLN);
        if (std::getenv("REVAMP_HOST_THREADS") || processors < 1 || sched_getaffinity(0, sizeof mine, &mine) != 0)
            return;
        const int threads_per_rank = (std::max)(1, static_cast<int>(processors) / m_local_size);
        // If the launcher has bound the ranks to processors, the library itself counts the processors of this rank.
        if (CPU_COUNT(&mine) > threads_per_rank)
            setenv("REVAMP_HOST_THREADS", std::to_string(threads_per_rank).c_str(), 0);
    }

    void choose_accelerator() {
        MPI_Comm machine_comm = MPI_COMM_NULL;
        detail::check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &machine_comm),
                      "MPI_Comm_split_type");
        detail::check(MPI_Comm_rank(machine_comm, &m_local_rank), "MPI_Comm_rank");
        detail::check(MPI_Comm_size(machine_comm, &m_local_size), "MPI_Comm_size");
        limit_threads();

        // The paths of the devices that this rank sees, one per line. A path names the same device on all ranks.
        std::string mine;
        const char *default_path = std::getenv("CPPAMP_DEFAULT_ACCELERATOR");
        if (!default_path || !*default_path)
            for (const Concurrency::accelerator &a : Concurrency::accelerator::get_all())
                if (!a.is_emulated && a.device_path != Concurrency::accelerator::cpu_accelerator)
                    mine += revamp::detail::narrow(a.device_path) + "\n";
        int length = static_cast<int>(mine.size());
        std::vector<int> lengths(static_cast<std::size_t>(m_local_size)), starts(lengths.size());
        detail::check(MPI_Allgather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, machine_comm), "MPI_Allgather");
        std::size_t sum = 0;
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            starts[i] = static_cast<int>(sum);
            sum += static_cast<std::size_t>(lengths[i]);
        }
        std::string all(sum, '\0');
        detail::check(
            MPI_Allgatherv(&mine[0], length, MPI_CHAR, &all[0], lengths.data(), starts.data(), MPI_CHAR, machine_comm),
            "MPI_Allgatherv");
        MPI_Comm_free(&machine_comm);

        std::vector<std::vector<std::string>> visible(lengths.size());
        for (std::size_t i = 0; i < lengths.size(); ++i) {
            const std::size_t end = static_cast<std::size_t>(starts[i]) + static_cast<std::size_t>(lengths[i]);
            for (std::size_t at = static_cast<std::size_t>(starts[i]); at < end;) {
                const std::size_t line = all.find('\n', at);
                visible[i].push_back(all.substr(at, line - at));
                at = line + 1;
            }
        }
        const std::string path = detail::assign_accelerators(visible)[static_cast<std::size_t>(m_local_rank)];
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
