// The C++ AMP launches that case_launch.cpp times: lambdas that capture four array_views of ordinary memory.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

// A launch, prepared. Each writes what the one before wrote.
class LambdaLaunch {
  public:
    virtual ~LambdaLaunch() = default;
    // Launches so often; does not wait.
    virtual void launch(unsigned times) = 0;
    virtual void wait() = 0;
    // How often an element was incremented.
    virtual uint32_t value() = 0;
};

// `increments`: it increments the elements of one view; else it does nothing, which the compiler does not know.
std::unique_ptr<LambdaLaunch> make_lambda_launch(bool increments, const std::string &device_path);
