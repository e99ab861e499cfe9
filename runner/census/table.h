/*
 * The table of one process: launches by kernel name, shape and kind of thread. Its memory is
 * bounded: MAX_NAMES names of NAME_BYTES in all and MAX_ENTRIES rows; a launch beyond them counts
 * among the others, or under its name with an unknown shape.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cuda.h>
#include <cupti.h>

#define FORMAT "ncubot-census 1"
#define MAX_NAMES 8192
#define MAX_NAME 16384u
#define NAME_BYTES (16u << 20)
#define MAX_SHAPED 32768
#define MAX_ENTRIES (MAX_SHAPED + 2 * MAX_NAMES)
#define NAME_SLOTS 32768u
#define ENTRY_SLOTS 131072u
#define MAX_DEMANGLED 4000
#define FOREIGN_BITS (1u << 26)

typedef enum { ON_RANGE_THREAD = 0, ON_OTHER_THREAD = 1 } Launcher;

typedef struct {
    uint32_t offset, hash;
    uint64_t launches[2];
} Name;

typedef struct {
    uint32_t name;
    int32_t shape[6];
    Launcher launcher;
} Key;

typedef struct {
    Key key;
    uint64_t launches, total, least, most, begun, first, last, in_graphs;
    double squares;
} Entry;

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;

/* Guarded by table_lock. */
static Name *names;
static Entry *entries;
static char *text;
static int32_t *name_slots, *entry_slots;
static uint32_t name_count, entry_count, shaped_count, text_used;
static uint64_t other_launches, other_ns, dropped, unfinished, opened_clock;

/* A bit for each launch of a thread that has no range open, by CUPTI's number of the call, which
 * counts up: two calls that share a bit are too far apart to be in flight together. */
static uint64_t *foreign;
static int foreign_used;

static uint32_t hash_bytes(const void *bytes, size_t count) {
    const unsigned char *at = bytes;
    uint64_t hash = 14695981039346656037u;
    for (size_t i = 0; i < count; i++) hash = (hash ^ at[i]) * 1099511628211u;
    return (uint32_t)(hash ^ (hash >> 32));
}

static int make_table(void) {
    if (entries) return 1;
    names = calloc(MAX_NAMES, sizeof *names);
    text = calloc(NAME_BYTES, 1);
    name_slots = calloc(NAME_SLOTS, sizeof *name_slots);
    entry_slots = calloc(ENTRY_SLOTS, sizeof *entry_slots);
    foreign = calloc(FOREIGN_BITS / 64, sizeof *foreign);
    if (!names || !text || !name_slots || !entry_slots || !foreign) return 0;
    entries = calloc(MAX_ENTRIES, sizeof *entries);
    return entries != NULL;
}

/* Slots hold an index plus one; 0 is an empty one. Returns -1 where there is no room. */
static int32_t find_name(const char *name) {
    size_t length = strnlen(name, MAX_NAME);
    if (length == MAX_NAME) return -1;
    uint32_t hash = hash_bytes(name, length), slot = hash % NAME_SLOTS;
    for (; name_slots[slot]; slot = (slot + 1) % NAME_SLOTS) {
        const Name *known = &names[name_slots[slot] - 1];
        if (known->hash == hash && !strcmp(text + known->offset, name)) return name_slots[slot] - 1;
    }
    if (name_count == MAX_NAMES || text_used + length + 1 > NAME_BYTES) return -1;
    names[name_count] = (Name){.offset = text_used, .hash = hash};
    memcpy(text + text_used, name, length + 1);
    text_used += (uint32_t)length + 1;
    name_slots[slot] = (int32_t)++name_count;
    return (int32_t)name_count - 1;
}

static Entry *find_entry(const Key *key) {
    uint32_t slot = hash_bytes(key, sizeof *key) % ENTRY_SLOTS;
    for (; entry_slots[slot]; slot = (slot + 1) % ENTRY_SLOTS) {
        Entry *known = &entries[entry_slots[slot] - 1];
        if (!memcmp(&known->key, key, sizeof *key)) return known;
    }
    int shaped = key->shape[0] != 0;
    if (shaped && shaped_count == MAX_SHAPED) {
        Key of_any_shape = {.name = key->name, .launcher = key->launcher};
        return find_entry(&of_any_shape);
    }
    shaped_count += (uint32_t)shaped;
    entries[entry_count] = (Entry){.key = *key, .least = UINT64_MAX, .begun = UINT64_MAX};
    entry_slots[slot] = (int32_t)++entry_count;
    return &entries[entry_count - 1];
}

static void mark_foreign(uint32_t call) {
    uint32_t bit = call % FOREIGN_BITS;
    __atomic_fetch_or(&foreign[bit / 64], 1ull << bit % 64, __ATOMIC_RELAXED);
    __atomic_store_n(&foreign_used, 1, __ATOMIC_RELAXED);
}

static Launcher launcher_of(uint32_t call) {
    uint32_t bit = call % FOREIGN_BITS;
    uint64_t word = __atomic_load_n(&foreign[bit / 64], __ATOMIC_RELAXED);
    return word >> bit % 64 & 1 ? ON_OTHER_THREAD : ON_RANGE_THREAD;
}

static void count(const CUpti_ActivityKernel9 *kernel) {
    if (!kernel->end || kernel->end < kernel->start) {
        unfinished++;
        return;
    }
    uint64_t took = kernel->end - kernel->start;
    int32_t name = kernel->name ? find_name(kernel->name) : -1;
    if (name < 0) {
        other_launches++;
        other_ns += took;
        return;
    }
    Launcher launcher = launcher_of(kernel->correlationId);
    Key key = {.name = (uint32_t)name, .launcher = launcher,
               .shape = {kernel->gridX, kernel->gridY, kernel->gridZ,
                         kernel->blockX, kernel->blockY, kernel->blockZ}};
    Entry *entry = find_entry(&key);
    uint64_t begun = kernel->start > opened_clock ? kernel->start - opened_clock : 0;
    entry->last = ++names[name].launches[launcher];
    if (!entry->launches++) entry->first = entry->last;
    entry->total += took;
    entry->squares += (double)took * (double)took;
    if (took < entry->least) entry->least = took;
    if (took > entry->most) entry->most = took;
    if (begun < entry->begun) entry->begun = begun;
    if (kernel->graphNodeId) entry->in_graphs++;
}

typedef char *(*Demangle)(const char *, char *, size_t *, int *);

static Demangle demangler(void) {
    void *found = dlsym(RTLD_DEFAULT, "__cxa_demangle");
    void *library = found ? NULL : dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library) found = dlsym(library, "__cxa_demangle");
    Demangle demangle;
    memcpy(&demangle, &found, sizeof demangle);
    return demangle;
}

/* Printable ASCII but the percent sign as it is, everything else as %XX. */
static void write_text(FILE *file, const char *from, size_t most) {
    for (const unsigned char *at = (const unsigned char *)from; *at && most--; at++)
        if (*at > 32 && *at < 127 && *at != '%') fputc(*at, file);
        else fprintf(file, "%%%02X", *at);
}

static void write_name(FILE *file, uint32_t number, Demangle demangle) {
    const char *name = text + names[number].offset;
    int status = -1;
    char *nice = demangle && !strncmp(name, "_Z", 2) ? demangle(name, NULL, NULL, &status) : NULL;
    fprintf(file, "name %u ", number);
    write_text(file, name, MAX_NAME);
    fputc(' ', file);
    write_text(file, nice && !status ? nice : name, MAX_DEMANGLED);
    fputc('\n', file);
    free(nice);
}

static void write_entry(FILE *file, const Entry *entry) {
    const int32_t *shape = entry->key.shape;
    fprintf(file, "kernel %u %d %d %d %d %d %d %d", entry->key.name, entry->key.launcher, shape[0],
            shape[1], shape[2], shape[3], shape[4], shape[5]);
    fprintf(file, " %lu %lu %lu %lu %.17g", entry->launches, entry->total, entry->least,
            entry->most, entry->squares);
    fprintf(file, " %lu %lu %lu %lu\n", entry->begun, entry->first, entry->last, entry->in_graphs);
}

static void write_table(FILE *file, uint64_t range_ns, uint64_t openings, uint32_t held_back) {
    fprintf(file, FORMAT "\nprocess %d\nrange %lu %lu\n", getpid(), range_ns, openings);
    fprintf(file, "others %lu %lu\n", other_launches, other_ns);
    fprintf(file, "lost %lu %lu\n", dropped, unfinished + held_back);
    Demangle demangle = demangler();
    for (uint32_t i = 0; i < name_count; i++) write_name(file, i, demangle);
    for (uint32_t i = 0; i < entry_count; i++) write_entry(file, &entries[i]);
    fputs("end\n", file);
}

/* Forgets everything, in a forked child, where no lock is held. */
static void clear_table(void) {
    pthread_mutex_init(&table_lock, NULL);
    if (entries) {
        memset(name_slots, 0, NAME_SLOTS * sizeof *name_slots);
        memset(entry_slots, 0, ENTRY_SLOTS * sizeof *entry_slots);
    }
    name_count = entry_count = shaped_count = text_used = 0;
    other_launches = other_ns = dropped = unfinished = 0;
}
