# Prints references.inc. Needs mpmath; the tests themselves do not.
import mpmath as m, random, math
m.mp.prec=400
random.seed(4)
def erfcinv(y):
    # Newton's method, from a good initial value
    y=m.mpf(y)
    if y>m.mpf('0.01'): return m.erfinv(1-y)
    x=m.sqrt(-m.log(y*m.sqrt(m.pi)*m.sqrt(-m.log(y)))) 
    for _ in range(60):
        f=m.erfc(x)-y; d=-2/m.sqrt(m.pi)*m.exp(-x*x)
        st=f/d; st=st/(1+x*st); x-=st
        if abs(st)<abs(x)*m.mpf(2)**-300: break
    return x
def erfinv(y):
    y=m.mpf(y)
    return m.sign(y)*erfcinv(1-abs(y)) if abs(y)>.9 else m.erfinv(y)
def probit(p):
    p=m.mpf(p)
    return -m.sqrt(2)*erfcinv(2*p) if p<.1 else m.sqrt(2)*erfcinv(2*(1-p)) if p>.9 else m.sqrt(2)*m.erfinv(2*p-1)
F={'sinpi':lambda x:m.sinpi(m.mpf(x)),'cospi':lambda x:m.cospi(m.mpf(x)),'tanpi':lambda x:m.sinpi(m.mpf(x))/m.cospi(m.mpf(x)),
'rsqrt':lambda x:1/m.sqrt(m.mpf(x)),'rcbrt':lambda x:m.sign(m.mpf(x))/m.cbrt(abs(m.mpf(x))),'erfinv':erfinv,'erfcinv':erfcinv,'probit':probit,
'phi':lambda x:m.erfc(-m.mpf(x)/m.sqrt(2))/2,'exp10':lambda x:m.mpf(10)**m.mpf(x)}
def logu(a,b): return math.exp(random.uniform(math.log(a),math.log(b)))
def s(): return random.choice((-1,1))
pts={
'sinpi':[s()*random.uniform(0,1) for _ in range(20)]+[s()*logu(1e-300,1e15) for _ in range(20)],
'cospi':[s()*random.uniform(0,1) for _ in range(20)]+[s()*logu(1e-10,1e15) for _ in range(20)],
'tanpi':[s()*random.uniform(0,1) for _ in range(20)]+[s()*logu(1e-300,1e15) for _ in range(20)],
'rsqrt':[logu(5e-324,1.7e308) for _ in range(20)]+[random.uniform(1,4) for _ in range(20)]+[5e-324,2e-310],
'rcbrt':[s()*logu(5e-324,1.7e308) for _ in range(20)]+[random.uniform(1,8) for _ in range(20)]+[5e-324,-2e-310],
'erfinv':[s()*random.uniform(0,1) for _ in range(20)]+[s()*logu(1e-310,1) for _ in range(12)]+[s()*(1-logu(1.2e-16,.1)) for _ in range(12)],
'erfcinv':[random.uniform(0,2) for _ in range(16)]+[logu(3e-308,1) for _ in range(16)]+[2-logu(3e-16,.1) for _ in range(8)]+[1e-290,1e-291,5e-324,1e-310],
'probit':[random.uniform(0,1) for _ in range(16)]+[logu(3e-308,.5) for _ in range(16)]+[1-logu(3e-16,.1) for _ in range(8)]+[5e-324,1e-310],
'phi':[random.uniform(-5,5) for _ in range(16)]+[random.uniform(-37.5,8) for _ in range(24)],
'exp10':[random.uniform(-307,308) for _ in range(12)]+[s()*logu(1e-10,1) for _ in range(6)],
}
print("// Values of functions that the C library lacks, correctly rounded: REFERENCE(function, argument, value).\n// Made by mpmath with 400 bits.")
for f,l in pts.items():
    for x in l:
        print(f"REFERENCE({f}, {x.hex()}, {float(F[f](x)).hex()})")
