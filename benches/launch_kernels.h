// The C++ AMP launches that case_launch.cpp times. The lambdas capture four array_views of std::vectors.
#pragma once
#include <cstdint>
#include <memory>
#include <string>

// A lambda that can be launched repeatedly. All launches of an object write the same elements.
class LambdaLaunch {
  public:
    virtual ~LambdaLaunch() = default;
    // Launches `times` times; does not wait.
    virtual void launch(unsigned times) = 0;
    virtual void wait() = 0;
    // The number of times that an element was incremented.
    virtual uint32_t value() = 0;
};

// If `increments` is true, the lambda increments the elements of one view. Otherwise the lambda does nothing, but the
// compiler cannot know that.
std::unique_ptr<LambdaLaunch> make_lambda_launch(bool increments, const std::string &device_path);
