// A small ray tracer without recursion: the scene is in array_views of structs, rays are a class, materials an enum.
#include "stdafx.h"
#include "timer.h"
#include <amp.h>
#include <amp_graphics.h>
#include <amp_math.h>
#include <cmath>
#include <iostream>
#include <vector>

using namespace concurrency;
using namespace concurrency::graphics;

typedef float_3 vector3;
typedef float_3 color;

// Square root for host and device
inline float square_root(float x) restrict(amp, cpu) {
    return fast_math::sqrt(x);
}

inline float dot(const vector3 &a, const vector3 &b) restrict(amp, cpu) {
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
inline vector3 normalize(const vector3 &a) restrict(amp, cpu) {
    return a / square_root(dot(a, a));
}
inline vector3 reflect(const vector3 &d, const vector3 &n) restrict(amp, cpu) {
    return d - n * (2.0f * dot(d, n));
}

enum material_kind { matte, mirror, checker };

struct sphere {
    vector3 center;
    float radius;
    color tint;
    material_kind kind;
};

struct light {
    vector3 position;
    color intensity;
};

struct camera {
    vector3 eye;
    float fov;
};

class ray {
  public:
    vector3 origin, direction;
    ray(const vector3 &o, const vector3 &d) restrict(amp, cpu) : origin(o), direction(d) {}
    vector3 at(float t) const restrict(amp, cpu) { return origin + direction * t; }
    bool hits(const sphere &s, float &t) const restrict(amp, cpu) {
        const vector3 oc = origin - s.center;
        const float b = dot(oc, direction), c = dot(oc, oc) - s.radius * s.radius, d = b * b - c;
        if (d < 0) return false;
        const float r = square_root(d);
        float hit = -b - r;
        if (hit < 1e-3f) hit = -b + r;
        if (hit < 1e-3f || hit >= t) return false;
        t = hit;
        return true;
    }
};

template <typename Spheres, typename Lights> class scene {
    Spheres m_spheres;
    Lights m_lights;
    int m_sphere_count, m_light_count;

  public:
    scene(const Spheres &s, const Lights &l, int spheres, int lights) restrict(amp, cpu)
        : m_spheres(s), m_lights(l), m_sphere_count(spheres), m_light_count(lights) {}

    bool nearest(const ray &r, float &t, int &which) const restrict(amp, cpu) {
        which = -1;
        for (int i = 0; i < m_sphere_count; ++i)
            if (r.hits(m_spheres[i], t)) which = i;
        return which >= 0;
    }

    color trace(ray r) const restrict(amp, cpu) {
        color result, weight(1.0f);
        for (int bounce = 0; bounce < 4; ++bounce) {
            float t = 1e30f;
            int which;
            if (!nearest(r, t, which)) {
                result += weight * color(0.2f, 0.3f, 0.5f);
                break;
            }
            const sphere s = m_spheres[which];
            const vector3 p = r.at(t), n = normalize(p - s.center);
            color tint = s.tint;
            if (s.kind == checker && ((int(p.x + 100.0f) ^ int(p.z + 100.0f)) & 1)) tint *= 0.3f;
            color lit(0.1f);
            for (int l = 0; l < m_light_count; ++l) {
                const light from = m_lights[l];
                const vector3 to_light = from.position - p;
                const float distance = square_root(dot(to_light, to_light));
                const ray shadow(p, to_light / distance);
                float blocked = distance;
                int blocker;
                const float cosine = dot(n, shadow.direction);
                if (cosine > 0 && !nearest(shadow, blocked, blocker)) lit += from.intensity * cosine;
            }
            switch (s.kind) {
            case mirror:
                result += weight * tint * lit * 0.2f;
                weight *= tint * 0.8f;
                r = ray(p, reflect(r.direction, n));
                break;
            default:
                result += weight * tint * lit;
                return result;
            }
        }
        return result;
    }
};

inline ray primary(const camera &c, int y, int x, int height, int width) restrict(amp, cpu) {
    return ray(c.eye,
               normalize(vector3((x - width * 0.5f) / height * c.fov, (height * 0.5f - y) / height * c.fov, 1.0f)));
}

int main() {
    const int height = 48, width = 64;
    std::vector<sphere> spheres;
    const sphere scene_spheres[] = {{vector3(0, -101, 6), 100.0f, color(0.9f, 0.9f, 0.8f), checker},
                                    {vector3(0, 0.2f, 6), 1.2f, color(0.9f, 0.9f, 0.9f), mirror},
                                    {vector3(-2.2f, -0.2f, 5), 0.8f, color(0.9f, 0.2f, 0.2f), matte},
                                    {vector3(2.0f, -0.3f, 4.5f), 0.7f, color(0.2f, 0.8f, 0.3f), matte}};
    spheres.assign(scene_spheres, scene_spheres + 4);
    std::vector<light> lights;
    light sun = {vector3(-5, 8, -2), color(0.8f, 0.8f, 0.7f)}, lamp = {vector3(4, 3, 2), color(0.2f, 0.2f, 0.4f)};
    lights.push_back(sun);
    lights.push_back(lamp);
    const camera cam = {vector3(0, 0.5f, -1), 1.2f};

    std::vector<color> picture(height * width);
    Timer timer;
    timer.Start();
    {
        array_view<const sphere> spheres_vw(spheres);
        array_view<const light> lights_vw(lights);
        array_view<color, 2> picture_vw(height, width, picture);
        picture_vw.discard_data();
        scene<array_view<const sphere>, array_view<const light>> world(spheres_vw, lights_vw, spheres_vw.extent[0],
                                                                       lights_vw.extent[0]);
        parallel_for_each(
            picture_vw.extent, [=](index<2> idx) restrict(amp) {
                picture_vw[idx] = world.trace(primary(cam, idx[0], idx[1], height, width));
            });
    }
    timer.Stop();

    scene<array_view<const sphere>, array_view<const light>> reference(array_view<const sphere>(4, spheres),
                                                                       array_view<const light>(2, lights), 4, 2);
    int wrong = 0;
    float brightest = 0;
    for (int y = 0; y < height; ++y) {
        for (int x = 0; x < width; ++x) {
            const color expected = reference.trace(primary(cam, y, x, height, width)), got = picture[y * width + x];
            const color d = expected - got;
            wrong += !(dot(d, d) <= 1e-3f);
            brightest = std::max(brightest, std::max(got.r, std::max(got.g, got.b)));
            if (y % 4 == 0 && x % 2 == 0) {
                const unorm grey(dot(got, color(0.3f, 0.6f, 0.1f)));
                std::cout << " .:-=+*#%@"[int(float(grey) * 9)];
            }
        }
        if (y % 4 == 0) std::cout << std::endl;
    }
    std::cout << wrong << " wrong pixels, brightest " << brightest << ", " << timer.Elapsed() << " ms" << std::endl;
    // rays that graze an edge may fall to either side
    return wrong < 40 && brightest > 0.5f ? 0 : 1;
}
