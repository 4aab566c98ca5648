// A fixed set of threads that run one function in parallel; the caller is the first of them.
#pragma once
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

class Workers {
  public:
    explicit Workers(unsigned count) {
        for (unsigned i = 1; i < count; i++)
            threads_.emplace_back([this, i] { serve(i); });
    }
    ~Workers() {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            stop_ = true;
        }
        begin_.notify_all();
        for (auto &t : threads_)
            t.join();
    }
    unsigned count() const { return static_cast<unsigned>(threads_.size()) + 1; }

    // Runs work(0) .. work(count - 1) and waits for all; rethrows an exception of one of them.
    void run(const std::function<void(unsigned)> &work) {
        {
            const std::lock_guard<std::mutex> lock(mutex_);
            work_ = &work;
            left_ = threads_.size();
            failure_ = nullptr;
            round_++;
        }
        begin_.notify_all();
        guarded(work, 0);
        std::unique_lock<std::mutex> lock(mutex_);
        done_.wait(lock, [&] { return left_ == 0; });
        if (failure_) std::rethrow_exception(failure_);
    }

  private:
    void serve(unsigned index) {
        unsigned long seen = 0;
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            begin_.wait(lock, [&] { return stop_ || round_ != seen; });
            if (stop_) return;
            seen = round_;
            const auto *work = work_;
            lock.unlock();
            guarded(*work, index);
            lock.lock();
            if (--left_ == 0) done_.notify_one();
        }
    }
    void guarded(const std::function<void(unsigned)> &work, unsigned index) {
        try {
            work(index);
        } catch (...) {
            const std::lock_guard<std::mutex> lock(mutex_);
            failure_ = std::current_exception();
        }
    }
    std::vector<std::thread> threads_;
    std::mutex mutex_;
    std::condition_variable begin_, done_;
    const std::function<void(unsigned)> *work_ = nullptr;
    std::exception_ptr failure_;
    std::size_t left_ = 0;
    unsigned long round_ = 0;
    bool stop_ = false;
};
