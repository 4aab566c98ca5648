// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "Option.h"
#include <agents.h> //@ agents.h
#include <numeric>

using namespace concurrency;
using namespace Concurrency::fast_math;

namespace Pricing
{
    class MonteCarlo : public IPricer
    {
    public:
        MonteCarlo(int paths) : m_paths(paths) {}

        virtual Result Price(const Option &option) override
        {
            array<float, 1> sums(m_paths);
            const Option o = option;
            const float sign = o.kind == Kind::Call ? 1.0f : -1.0f;
            parallel_for_each(sums.extent, [=, &sums](index<1> i) restrict(amp)
            {
                Random random(i[0] + 1);
                const float u = fast_math::fmax(random.Uniform(), 1e-6f), v = random.Uniform();
                const float z = sqrt(-2.0f * log(u)) * cos(6.2831853f * v);
                const float drift = (o.rate - 0.5f * o.volatility * o.volatility) * o.years;
                const float s = o.spot * exp(drift + o.volatility * sqrt(o.years) * z);
                const float payoff = sign * (s - o.strike);
                sums[i] = payoff > 0 ? payoff * exp(-o.rate * o.years) : 0;
            });
            std::vector<float> host(m_paths);
            copy(sums, host.begin());
            combinable<double> total; //@ combinable
            parallel_for_each(host.begin(), host.end(), [&](float value) { total.local() += value; }); //@ parallel_for_each
            const double sum = total.combine([](double a, double b) { return a + b; });
            Result result = {(float)(sum / m_paths), 0.0f, (unsigned __int64)m_paths}; //@ __int64
            return result;
        }

        virtual const char *Name() const { return __FUNCSIG__; } //@ __FUNCSIG__

    private:
        int m_paths;
    };

    IPricer *MakeMonteCarlo(int paths) { return new MonteCarlo(paths); }

    // Prices the options from a queue. An option with no years left marks the end of the queue.
    class PricingAgent : public agent //@ agent
    {
    public:
        PricingAgent(ISource<Option> &source, ITarget<Result> &target) : m_source(source), m_target(target) {} //@ ISource; ITarget

    protected:
        void run()
        {
            MonteCarlo pricer(1 << 16);
            for (;;)
            {
                Option option = receive(m_source); //@ receive
                if (option.years <= 0)
                    break;
                asend(m_target, pricer.Price(option)); //@ asend
            }
            done();
        }

    private:
        ISource<Option> &m_source; //@ ISource
        ITarget<Result> &m_target; //@ ITarget
    };
}
