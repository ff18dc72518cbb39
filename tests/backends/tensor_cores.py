"""The instructions of tensor cores in C++, by the formulas of the PTX ISA for the fragments that each lane holds."""

#: What includes it has functions by which the lanes of a warp meet: `own_lane`, `hand` (a pointer, and wait until all
#: have), `handed` (the pointer of a lane) and `all_have_read` (wait until all come here); and `fault`, a string.
TENSOR_CORES = r"""
template <class To, class From> static To as(From x) { To y; std::memcpy(&y, &x, sizeof y); return y; }
static void ldmatrix(void* to, const char* from, int count, bool transposed) {
    hand(from);
    for (int i = 0; i < count; ++i) {
        unsigned short pair[2];
        for (unsigned j = 0; j < 2; ++j) {
            const unsigned lane = own_lane(), row = transposed ? lane % 4 * 2 + j : lane / 4;
            const char* start = (const char*)handed(i * 8 + row);
            if ((unsigned long long)start % 16) fault = "a row that ldmatrix reads is not aligned";
            else pair[j] = ((const unsigned short*)start)[transposed ? lane / 4 : lane % 4 * 2 + j];
        }
        std::memcpy((char*)to + 4 * i, pair, 4);
    }
    all_have_read();
}
// The factors are elements of type T, several to a `Word`; `number` says what one is. M x K times K x 8.
template <class T, class Word, int M, int K, class Sum, class Number>
static void multiply(Sum* sum, const Word* lhs, const Word* rhs, Number number) {
    const Word* given[2] = {lhs, rhs};
    hand(given);
    const unsigned own = own_lane(), in_word = sizeof(Word) / sizeof(T);
    auto element = [&](int which, unsigned row, unsigned k) {  // `row` is a column of the second factor
        const Word* words = ((const Word* const*)handed(row % 8 * 4 + k / in_word % 4))[which];
        const unsigned word = k / in_word / 4 * (which == 0 && M == 16 ? 2 : 1) + row / 8;
        return number(((const T*)words)[word * in_word + k % in_word]);
    };
    Sum made[M * 8 / 32];
    for (unsigned i = 0; i < M * 8 / 32; ++i) {
        const unsigned row = own / 4 + i / 2 * 8, column = own % 4 * 2 + i % 2;
        made[i] = sum[i];
        for (unsigned k = 0; k < K; ++k) made[i] += element(0, row, k) * element(1, column, k);
    }
    all_have_read();  // of fragments that are no longer there after this
    std::memcpy(sum, made, sizeof made);
}
static unsigned to_tf32(float x) {
    return std::isfinite(x) ? (as<unsigned>(x) + 0x1000) & 0xffffe000u : as<unsigned>(x);
}
static float from_f16(unsigned short x) { return (float)as<_Float16>(x); }
static float from_bf16(unsigned short x) { return as<float>((unsigned)x << 16); }
static void mma_f16(float* sum, const unsigned* lhs, const unsigned* rhs) {
    multiply<unsigned short, unsigned, 16, 16>(sum, lhs, rhs, from_f16);
}
static void mma_bf16(float* sum, const unsigned* lhs, const unsigned* rhs) {
    multiply<unsigned short, unsigned, 16, 16>(sum, lhs, rhs, from_bf16);
}
static void mma_f32(float* sum, const unsigned* lhs, const unsigned* rhs) {
    multiply<unsigned, unsigned, 16, 8>(sum, lhs, rhs, [](unsigned x) { return as<float>(x & 0xffffe000u); });
}
static void mma_f32_thrice(float* sum, const unsigned* lhs, const unsigned* rhs) {
    unsigned high[6], low[6];
    for (int i = 0; i < 6; ++i) {
        const float x = as<float>(i < 4 ? lhs[i] : rhs[i - 4]);
        high[i] = to_tf32(x);
        low[i] = std::isfinite(x) ? to_tf32(x - as<float>(high[i])) : 0;
    }
    mma_f32(sum, low, high + 4);
    mma_f32(sum, high, low + 4);
    mma_f32(sum, high, high + 4);
}
static void mma_i8(int* sum, const unsigned* lhs, const unsigned* rhs) {
    multiply<signed char, unsigned, 16, 32>(sum, lhs, rhs, [](int x) { return x; });
}
static void mma_u8(int* sum, const unsigned* lhs, const unsigned* rhs) {
    multiply<unsigned char, unsigned, 16, 32>(sum, lhs, rhs, [](int x) { return x; });
}
static void mma_f64(double* sum, const double* lhs, const double* rhs) {
    multiply<double, double, 8, 4>(sum, lhs, rhs, [](double x) { return x; });
}
static void mma_f64_large(double* sum, const double* lhs, const double* rhs) {
    multiply<double, double, 16, 16>(sum, lhs, rhs, [](double x) { return x; });
}
"""
