//===============================================================================
//  N-body in the style of the C++ AMP book: simple, tiled, and on two accelerators.
//===============================================================================
#include "stdafx.h"
#include "timer.h"
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <iostream>
#include <memory>
#include <random>
#include <string>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

//  Structure of arrays, on one accelerator.
struct ParticlesAmp {
    array<float_3, 1> pos;
    array<float_3, 1> vel;

  public:
    ParticlesAmp(int size) : pos(size), vel(size) {}
    ParticlesAmp(int size, accelerator_view view) : pos(size, view), vel(size, view) {}
    inline int size() const { return pos.extent.size(); }
};

const float g_softeningSquared = 0.0000015625f;
const float g_dampingFactor = 0.9995f;
const float g_deltaTime = 0.1f;
const float g_particleMass = ((6.67300e-11f * 10000.0f) * 10000.0f * 10000.0f);

inline float SqrLength(const float_3 &r) restrict(amp, cpu) {
    return r.x * r.x + r.y * r.y + r.z * r.z;
}

void BodyBodyInteraction(float_3 &acc, const float_3 particlePosition, const float_3 otherParticlePosition,
                         float softeningSquared, float particleMass) restrict(amp) {
    float_3 r = otherParticlePosition - particlePosition;
    float distSqr = SqrLength(r) + softeningSquared;
    float invDist = fast_math::rsqrt(distSqr);
    float invDistCube = invDist * invDist * invDist;
    float s = particleMass * invDistCube;
    acc += r * s;
}

class INBodyAmp {
  public:
    virtual int TileSize() const = 0;
    virtual void Integrate(const std::shared_ptr<ParticlesAmp> &in, const std::shared_ptr<ParticlesAmp> &out,
                           int numParticles) const = 0;
    virtual ~INBodyAmp() {}
};

class NBodyAmpSimple : public INBodyAmp {
  private:
    const float m_softeningSquared;
    const float m_dampingFactor;
    const float m_deltaTime;
    const float m_particleMass;

  public:
    NBodyAmpSimple(float softeningSquared, float dampingFactor, float deltaTime, float particleMass)
        : m_softeningSquared(softeningSquared), m_dampingFactor(dampingFactor), m_deltaTime(deltaTime),
          m_particleMass(particleMass) {}

    int TileSize() const { return 1; }

    void Integrate(const std::shared_ptr<ParticlesAmp> &in, const std::shared_ptr<ParticlesAmp> &out,
                   int numParticles) const {
        extent<1> computeDomain(numParticles);
        const float softeningSquared = m_softeningSquared;
        const float dampingFactor = m_dampingFactor;
        const float deltaTime = m_deltaTime;
        const float particleMass = m_particleMass;
        const ParticlesAmp &particlesIn = *in;
        const ParticlesAmp &particlesOut = *out;

        array<float_3, 1> &posOut = out->pos;
        array<float_3, 1> &velOut = out->vel;
        const array<float_3, 1> &posIn = particlesIn.pos;
        const array<float_3, 1> &velIn = particlesIn.vel;
        (void)particlesOut;

        parallel_for_each(
            computeDomain, [ =, &posIn, &velIn, &posOut, &velOut ](index<1> idx) restrict(amp) {
                float_3 pos = posIn[idx];
                float_3 vel = velIn[idx];
                float_3 acc(0.0f);
                for (int j = 0; j < numParticles; ++j) {
                    if (j != idx[0]) BodyBodyInteraction(acc, pos, posIn[j], softeningSquared, particleMass);
                }
                vel += acc * deltaTime;
                vel *= dampingFactor;
                pos += vel * deltaTime;
                posOut[idx] = pos;
                velOut[idx] = vel;
            });
    }
};

template <int TSize> class NBodyAmpTiled : public INBodyAmp {
  public:
    int TileSize() const { return TSize; }

    void Integrate(const std::shared_ptr<ParticlesAmp> &in, const std::shared_ptr<ParticlesAmp> &out,
                   int numParticles) const {
        Integrate(*in, *out, numParticles, 0, numParticles);
    }

    void Integrate(const ParticlesAmp &in, ParticlesAmp &out, int numParticles, int begin, int count) const {
        extent<1> computeDomain(count);
        const int numTiles = numParticles / TSize;
        const float softeningSquared = g_softeningSquared;
        const float dampingFactor = g_dampingFactor;
        const float deltaTime = g_deltaTime;
        const float particleMass = g_particleMass;

        const array<float_3, 1> &posIn = in.pos, &velIn = in.vel;
        array<float_3, 1> &posOut = out.pos, &velOut = out.vel;
        parallel_for_each(
            in.pos.accelerator_view, computeDomain.tile<TSize>(),
            [ =, &posIn, &velIn, &posOut, &velOut ](tiled_index<TSize> ti) restrict(amp) {
                tile_static float_3 tilePosMemory[TSize];

                const int idxLocal = ti.local[0];
                const int idxGlobal = ti.global[0] + begin;

                float_3 pos = posIn[idxGlobal];
                float_3 vel = velIn[idxGlobal];
                float_3 acc = 0.0f;

                int particleIdx = idxLocal;
                for (int tile = 0; tile < numTiles; tile++, particleIdx += TSize) {
                    tilePosMemory[idxLocal] = posIn[particleIdx];
                    ti.barrier.wait();
                    for (int j = 0; j < TSize;) {
                        BodyBodyInteraction(acc, pos, tilePosMemory[j++], softeningSquared, particleMass);
                        BodyBodyInteraction(acc, pos, tilePosMemory[j++], softeningSquared, particleMass);
                        BodyBodyInteraction(acc, pos, tilePosMemory[j++], softeningSquared, particleMass);
                        BodyBodyInteraction(acc, pos, tilePosMemory[j++], softeningSquared, particleMass);
                    }
                    ti.barrier.wait();
                }
                vel += acc * deltaTime;
                vel *= dampingFactor;
                pos += vel * deltaTime;
                posOut[idxGlobal] = pos;
                velOut[idxGlobal] = vel;
            });
    }
};

void LoadParticles(std::vector<float_3> &pos, std::vector<float_3> &vel) {
    std::mt19937 engine(42);
    std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
    for (size_t i = 0; i < pos.size(); ++i) {
        pos[i] = float_3(unit(engine), unit(engine), unit(engine)) * 400.0f;
        vel[i].xyz = float_3(0.0f, unit(engine), 0.5f);
    }
}

void IntegrateCpu(std::vector<float_3> &pos, std::vector<float_3> &vel) {
    std::vector<float_3> newPos(pos), newVel(vel);
    for (size_t i = 0; i < pos.size(); ++i) {
        float_3 acc;
        for (size_t j = 0; j < pos.size(); ++j) {
            const float_3 r = pos[j] - pos[i];
            const float invDist = 1.0f / sqrtf(SqrLength(r) + g_softeningSquared);
            acc += r * (g_particleMass * invDist * invDist * invDist);
        }
        newVel[i] = (vel[i] + acc * g_deltaTime) * g_dampingFactor;
        newPos[i] = pos[i] + newVel[i] * g_deltaTime;
    }
    pos.swap(newPos);
    vel.swap(newVel);
}

float Difference(const std::vector<float_3> &a, const std::vector<float_3> &b) {
    float worst = 0.0f;
    for (size_t i = 0; i < a.size(); ++i)
        worst = worse(worst, SqrLength(a[i] - b[i]) / (1.0f + SqrLength(b[i])));
    return worst;
}

int main() {
    const int numParticles = 256;
    const int steps = 3;
    std::vector<float_3> startPos(numParticles), startVel(numParticles);
    LoadParticles(startPos, startVel);
    std::vector<float_3> refPos(startPos), refVel(startVel);
    for (int s = 0; s < steps; ++s)
        IntegrateCpu(refPos, refVel);

    std::vector<std::shared_ptr<INBodyAmp>> integrators;
    integrators.push_back(
        std::make_shared<NBodyAmpSimple>(g_softeningSquared, g_dampingFactor, g_deltaTime, g_particleMass));
    integrators.push_back(std::make_shared<NBodyAmpTiled<16>>());
    integrators.push_back(std::make_shared<NBodyAmpTiled<64>>());

    int failed = 0;
    for (auto &integrator : integrators) {
        auto in = std::make_shared<ParticlesAmp>(numParticles);
        auto out = std::make_shared<ParticlesAmp>(numParticles);
        copy(startPos.begin(), startPos.end(), in->pos);
        copy(startVel.begin(), in->vel);
        Timer timer;
        timer.Start();
        for (int s = 0; s < steps; ++s) {
            integrator->Integrate(in, out, numParticles);
            std::swap(in, out);
        }
        in->pos.accelerator_view.wait();
        timer.Stop();
        std::vector<float_3> result(numParticles);
        copy(in->pos, result.begin());
        const float error = Difference(result, refPos);
        std::wcout << L"Tile size " << integrator->TileSize() << L": " << timer.Elapsed() << L" ms, error " << error
                   << std::endl;
        if (!(error < 1e-6f)) ++failed;
    }

    // Two accelerators, or two views of one: each integrates half of the particles, and copies positions to the other.
    std::vector<accelerator> accls = accelerator::get_all();
    accls.erase(std::remove_if(
                    accls.begin(), accls.end(),
                    [](accelerator &a) { return (a.is_emulated) || (a.device_path == accelerator::cpu_accelerator); }),
                accls.end());
    std::vector<accelerator_view> views;
    for (accelerator &a : accls)
        views.push_back(a.create_view());
    while (views.size() < 2)
        views.push_back(accelerator().create_view());
    views.erase(views.begin() + 2, views.end());
    std::vector<std::shared_ptr<ParticlesAmp>> ins, outs;
    for (accelerator_view &v : views) {
        ins.push_back(std::make_shared<ParticlesAmp>(numParticles, v));
        outs.push_back(std::make_shared<ParticlesAmp>(numParticles, v));
        copy(startPos.begin(), ins.back()->pos);
        copy(startVel.begin(), ins.back()->vel);
    }
    const int range = numParticles / 2;
    NBodyAmpTiled<16> engine;
    for (int s = 0; s < steps; ++s) {
        std::vector<completion_future> copies;
        for (int i = 0; i < 2; ++i)
            engine.Integrate(*ins[i], *outs[i], numParticles, i * range, range);
        for (int i = 0; i < 2; ++i)
            copies.push_back(
                copy_async(outs[i]->pos.section(i * range, range), outs[1 - i]->pos.section(i * range, range)));
        for (auto &c : copies)
            c.get();
        std::swap(ins, outs);
    }
    std::vector<float_3> result(numParticles);
    copy(ins[0]->pos, result.begin());
    const float error = Difference(result, refPos);
    std::wcout << L"Two accelerator_views: error " << error << std::endl;
    if (!(error < 1e-6f)) ++failed;
    std::wcout << (failed ? L"FAILED" : L"Passed") << std::endl;
    return failed ? 1 : 0;
}
