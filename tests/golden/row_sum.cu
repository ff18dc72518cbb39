__device__ __forceinline__ unsigned mt_trips_i32(int lower, int upper, int step);
template <int N, class T, class M, class O> __device__ __forceinline__ void mt_load_if(bool wanted, T* to, const M* from, O other);

extern "C" __global__ void __launch_bounds__(128)
row_sum(float* x, float* out, int stride, int n) {
    __shared__ __align__(16) unsigned char mt_shared[16];
    int row = blockIdx.x;
    int v1 = (unsigned)row * stride;
    float* start = x + v1;
    int v6[4];
    #pragma unroll
    for (int r = 0; r < 4; ++r) {
        v6[r] = threadIdx.x * 4 + r;
    }
    float acc[4];
    #pragma unroll
    for (int r = 0; r < 4; ++r) {
        acc[r] = 0.0f;
    }
    for (unsigned k_trip = 0, k_trips = mt_trips_i32(0, n, 512); k_trip < k_trips; ++k_trip) {
        int k = k_trip * 512u;
        int offs[4];
        bool v9[4];
        #pragma unroll
        for (int r = 0; r < 4; ++r) {
            offs[r] = k + v6[r];
            v9[r] = offs[r] < n;
        }
        float v10[4];
        mt_load_if<4>(v9[0], v10, start + offs[0], 0.0f);
        #pragma unroll
        for (int r = 0; r < 4; ++r) {
            acc[r] = acc[r] + v10[r];
        }
    }
    float v14_tree[2];
    #pragma unroll
    for (int r = 0; r < 2; ++r) {
        v14_tree[r] = acc[r] + acc[r + 2];
    }
    float v14 = v14_tree[0] + v14_tree[1];
    float v15 = v14;
    #pragma unroll
    for (int lane = 16; lane > 0; lane /= 2) {
        v15 = v15 + __shfl_xor_sync(0xffffffffu, v15, lane);
    }
    float* v16_parts = (float*)mt_shared;
    if ((threadIdx.x & 31) == 0) {
        v16_parts[threadIdx.x >> 5] = v15;
    }
    __syncthreads();
    float v16_tree[2];
    #pragma unroll
    for (int part = 0; part < 2; ++part) {
        v16_tree[part] = v16_parts[part] + v16_parts[part + 2];
    }
    float v16 = v16_tree[0] + v16_tree[1];
    if (threadIdx.x == 0) {
        out[row] = v16;
    }
}

__device__ unsigned mt_trips_i32(int lower, int upper, int step) {
    if (step > 0 && lower < upper) return ((unsigned)upper - (unsigned)lower - 1) / (unsigned)step + 1;
    if (step < 0 && lower > upper) return ((unsigned)lower - (unsigned)upper - 1) / (0 - (unsigned)step) + 1;
    return 0;
}

template <class T, int N> struct alignas(sizeof(T) * N) mt_vector { T at[N]; };

template <int N, class T, class M, class O>
__device__ void mt_load_if(bool wanted, T* to, const M* from, O other) {
    mt_vector<M, N> v;
    #pragma unroll
    for (int i = 0; i < N; ++i) v.at[i] = (M)other;
    if (wanted) v = *(const mt_vector<M, N>*)from;
    #pragma unroll
    for (int i = 0; i < N; ++i) to[i] = (T)v.at[i];
}
