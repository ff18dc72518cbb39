template <int N, class T, class M, class O> __device__ __forceinline__ void mt_load_if(bool wanted, T* to, const M* from, O other);
template <int N, class T, class M> __device__ __forceinline__ void mt_store(M* to, const T* from);

extern "C" __global__ void __launch_bounds__(128)
add_kernel(float* x, float* y, float* out, int n) {
    int pid = blockIdx.x;
    int v1 = pid * 1024u;
    int offs[8];
    bool mask[8];
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        int v2 = threadIdx.x * 4 + (r & 3) + (r >> 2) * 512;
        offs[r] = (unsigned)v1 + v2;
        mask[r] = offs[r] < n;
    }
    float a[8];
    float b[8];
    #pragma unroll
    for (int r = 0; r < 8; r += 4) {
        mt_load_if<4>(mask[r], a + r, x + offs[r], 0.0f);
        mt_load_if<4>(mask[r], b + r, y + offs[r], 0.0f);
    }
    float v9[8];
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        v9[r] = a[r] + b[r];
    }
    #pragma unroll
    for (int r = 0; r < 8; r += 4) {
        if (mask[r]) {
            mt_store<4>(out + offs[r], v9 + r);
        }
    }
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

template <int N, class T, class M> __device__ void mt_store(M* to, const T* from) {
    mt_vector<M, N> v;
    #pragma unroll
    for (int i = 0; i < N; ++i) v.at[i] = from[i];
    *(mt_vector<M, N>*)to = v;
}
