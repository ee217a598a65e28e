// SPDX-License-Identifier: Apache-2.0
// The runtime that Embedded Swift asks for: memory in size classes, mem*, 128-bit products.
typedef __SIZE_TYPE__ size_t; typedef unsigned char u8; typedef unsigned int u32; typedef unsigned long long u64;
extern u8 __heap_base;
static u8 *top, *end;
static void *lists[32];
void *malloc(size_t);
static u32 class_of(size_t n) { u32 c = 5; while (((size_t)1 << c) < n) c++; return c; }
// 16-byte header holds the class; blocks are 16-aligned
void *malloc(size_t n) {
    if (n > (1u << 24)) __builtin_trap();
    u32 c = class_of(n + 16);
    if (lists[c]) { u8 *b = lists[c]; lists[c] = *(void **)b; return b; }
    size_t size = (size_t)1 << c;
    if (!top) { top = (u8 *)(((size_t)&__heap_base + 15) & ~(size_t)15); end = (u8 *)(__builtin_wasm_memory_size(0) << 16); }
    if ((size_t)(end - top) < size) {
        size_t pages = (size - (size_t)(end - top) + 65535) >> 16;
        if (__builtin_wasm_memory_grow(0, pages) == (size_t)-1) __builtin_trap();
        end += pages << 16;
    }
    u8 *b = top + 16; top += size; *(u32 *)(b - 16) = c; return b;
}
void free(void *p) { if (!p) return; u32 c = *(u32 *)((u8 *)p - 16); *(void **)p = lists[c]; lists[c] = p; }
int posix_memalign(void **p, size_t a, size_t n) { if (a > 16) __builtin_trap(); *p = malloc(n); return 0; }
void *memcpy(void *d, const void *s, size_t n) { return __builtin_memcpy(d, s, n); }
void *memmove(void *d, const void *s, size_t n) { return __builtin_memmove(d, s, n); }
void *memset(void *d, int c, size_t n) { return __builtin_memset(d, c, n); }
int memcmp(const void *a, const void *b, size_t n) { const u8 *x = a, *y = b; for (size_t i = 0; i < n; i++) if (x[i] != y[i]) return x[i] - y[i]; return 0; }
size_t strlen(const char *s) { size_t n = 0; while (s[n]) n++; return n; }
// The seed of Set and Dictionary: from the page, once.
__attribute__((import_module("signet"), import_name("random"))) extern void signet_random(void *, size_t);
void arc4random_buf(void *p, size_t n) { signet_random(p, n); }
__int128 __multi3(__int128 a, __int128 b) {
    u64 x = (u64)a, y = (u64)b;
    u64 x0 = (u32)x, x1 = x >> 32, y0 = (u32)y, y1 = y >> 32;
    u64 p00 = x0 * y0, p01 = x0 * y1, p10 = x1 * y0, p11 = x1 * y1;
    u64 mid = (p00 >> 32) + (u32)p01 + (u32)p10;
    u64 lo = (mid << 32) | (u32)p00;
    u64 hi = p11 + (p01 >> 32) + (p10 >> 32) + (mid >> 32);
    hi += (u64)((unsigned __int128)a >> 64) * y + x * (u64)((unsigned __int128)b >> 64);
    return (__int128)(((unsigned __int128)hi << 64) | lo);
}
size_t __stack_chk_guard = 0x5aa51ce9;
void __stack_chk_fail(void) { __builtin_trap(); }
