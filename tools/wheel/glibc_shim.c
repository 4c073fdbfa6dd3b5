/* What the headers and the libstdc++.a of a new system ask of glibc, and glibc 2.28 does not have under that name.
   Linked into the module, hidden: nothing outside sees it. */
#include <pthread.h>
#include <sys/stat.h>

/* Since glibc 2.33; before, fstat was an inline function that called this one, which every later glibc keeps. */
#if defined(__x86_64__)
#define STAT_VERSION 1
__asm__(".symver __fxstat, __fxstat@GLIBC_2.2.5");
__asm__(".symver old_pthread_once, pthread_once@GLIBC_2.2.5");
#elif defined(__aarch64__)
#define STAT_VERSION 0
__asm__(".symver __fxstat, __fxstat@GLIBC_2.17");
__asm__(".symver old_pthread_once, pthread_once@GLIBC_2.17");
#else
#error "which version of struct stat, and which of __fxstat, has this platform?"
#endif
extern int __fxstat(int version, int file, struct stat* about);

int fstat(int file, struct stat* about) { return __fxstat(STAT_VERSION, file, about); }

/* Since glibc 2.32: lets libstdc++ count references without atomics. Zero, "there may be threads", is always right. */
char __libc_single_threaded = 0;

/* In libc.so.6 since glibc 2.34, under a new version; before in libpthread.so.0, which Python has loaded. std::call_once
   uses it, and lets exceptions pass through it: this file is compiled with -fexceptions. */
extern int old_pthread_once(pthread_once_t* control, void (*routine)(void));

int pthread_once(pthread_once_t* control, void (*routine)(void)) { return old_pthread_once(control, routine); }
