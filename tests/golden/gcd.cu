__device__ __forceinline__ int mt_mod_i32(int x, int y);

extern "C" __global__ void __launch_bounds__(128)
gcd(int* x, int* out) {
    int pid = blockIdx.x;
    int v1 = 2u * pid;
    int* v2 = x + v1;
    int a = *v2;
    int b = v2[1];
    while (b != 0) {
        int v15 = mt_mod_i32(a, b);
        a = b;
        b = v15;
    }
    bool v16 = a < 0;
    if (v16) {
        a = 0u - a;
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        out[pid] = a;
    }
}

__device__ int mt_mod_i32(int x, int y) { return y == 0 || y == -1 ? 0 : x % y; }
