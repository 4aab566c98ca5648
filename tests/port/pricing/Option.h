// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#pragma once
#include "Common.h"

namespace Pricing
{
    enum class Kind : unsigned __int8 { Call, Put }; //@ __int8

    struct __declspec(align(16)) Option //@ align
    {
        float spot, strike, rate, volatility, years;
        Kind kind;
        unsigned __int32 id; //@ __int32
    };

    struct Result
    {
        float price, error;
        unsigned __int64 paths; //@ __int64
    };

    // A small random number generator for kernels.
    class Random
    {
    public:
        explicit Random(unsigned int seed) restrict(amp, cpu) : m_state(seed * 747796405u + 2891336453u) {}
        PRICING_INLINE unsigned int Next() restrict(amp, cpu)
        {
            m_state ^= m_state << 13;
            m_state ^= m_state >> 17;
            m_state ^= m_state << 5;
            return m_state;
        }
        PRICING_INLINE float Uniform() restrict(amp, cpu) { return (Next() >> 8) * (1.0f / 16777216.0f); }

    private:
        unsigned int m_state;
    };

    class IPricer
    {
    public:
        virtual ~IPricer() = 0 {} //@ = 0 {
        virtual Result STDMETHODCALLTYPE Price(const Option &option) = 0; //@ STDMETHODCALLTYPE
        virtual const char *Name() const abstract; //@ abstract
    };

    class Portfolio
    {
    public:
        void Load(const CString &path); //@ CString
        size_t Size() const { return m_options.size(); }
        const Option &operator[](size_t i) const { return m_options[i]; }
        void Add(Option &option) { m_options.push_back(option); }

    private:
        std::vector<Option> m_options;
        static const unsigned __int64 s_limit = 10000ui64; //@ __int64; 10000ui64
    };
}
