/* A stand-in for CUDA's header: the version is all that a build without a GPU needs. */
#define CUDA_VERSION 13000
