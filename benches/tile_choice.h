// Selects an algorithm. Each implementation of tiles.h includes this file in its namespace, after its functions.
Action make(Algorithm algorithm, Data &data) {
    switch (algorithm) {
    case Algorithm::matmul:
        return matmul(data);
    case Algorithm::scan:
        return scan(data);
    case Algorithm::reduction:
        return reduction(data);
    case Algorithm::histogram:
        return histogram(data);
    case Algorithm::convolution:
        return convolution(data);
    case Algorithm::transpose:
        return transpose(data);
    case Algorithm::fft:
        return fft(data);
    case Algorithm::bitonic:
        return bitonic(data);
    case Algorithm::nbody:
        return nbody(data);
    case Algorithm::lu:
        return lu(data);
    case Algorithm::needleman:
        return needleman(data);
    }
    return {};
}
