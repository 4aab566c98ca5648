// The porting tool must report each line with a mark `//@`. The mark names what must be edited on the line.
#include "Option.h"
#include <fstream>
#include <sstream>

using namespace std;

namespace Pricing
{
    static Option Parse(const string &line)
    {
        Option option;
        char kind[8];
        int n = sscanf_s(line.c_str(), "%7[^,],%f,%f,%f,%f,%f", kind, (unsigned)_countof(kind), //@ sscanf_s; _countof
                         &option.spot, &option.strike, &option.rate, &option.volatility, &option.years);
        if (n != FILE_COLUMNS)
            throw exception("a line of the portfolio has too few columns"); //@ exception(
        option.kind = _stricmp(kind, "put") == 0 ? Kind::Put : Kind::Call; //@ _stricmp
        option.id = 0;
        return option;
    }

    void Portfolio::Load(const CString &path) //@ CString
    {
        ifstream file(path.GetString());
        if (!file.is_open())
            CHECK_HR(HRESULT_FROM_WIN32(GetLastError())); //@ HRESULT_FROM_WIN32; GetLastError
        string line;
        while (getline(file, line))
        {
            if (line.empty() || line[0] == '#')
                continue;
            Add(Parse(line)); //@ Parse(
            if (m_options.size() > s_limit)
                break;
        }
        for each (Option &o in m_options) //@ for each
            o.id = static_cast<unsigned __int32>(&o - &m_options[0]); //@ __int32
    }
}
