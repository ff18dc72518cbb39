extern "C" __global__ void __launch_bounds__(128)
add_kernel(float* x, float* y, float* out, int n) {
    int pid = blockIdx.x;
    int v1 = (int)((unsigned)pid * 1024u);
    int offs[8];
    bool mask[8];
    float a[8];
    float b[8];
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        int v2 = threadIdx.x * 4 + (r & 3) + (r >> 2) * 512;
        offs[r] = (int)((unsigned)v1 + (unsigned)v2);
        mask[r] = (offs[r] < n);
        a[r] = (mask[r] ? x[offs[r]] : 0.0f);
        b[r] = (mask[r] ? y[offs[r]] : 0.0f);
    }
    #pragma unroll
    for (int r = 0; r < 8; ++r) {
        float v9 = (a[r] + b[r]);
        if (mask[r]) {
            out[offs[r]] = v9;
        }
    }
}
