package io.understudy.gateway.permission;

import com.github.benmanes.caffeine.cache.Cache;
import com.github.benmanes.caffeine.cache.Caffeine;
import com.google.protobuf.ByteString;
import io.grpc.Status;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Permission;
import io.understudy.gateway.caller.Principal;
import io.understudy.gateway.permission.Authorizer.Verdict;
import io.understudy.vocabulary.KeyRange;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Authorizes certificates as etcd does: the common name is a user of the source. Permissions follow from the users and
 * roles of the source. A cached user is valid while the auth revision is unchanged; that is read at most once a second.
 * Denies while the revision is unknown. Thread-safe.
 */
final class RoleAuthorizer implements Authorizer<Principal.Certificate> {

    private static final Logger LOG = LoggerFactory.getLogger(RoleAuthorizer.class);

    /** Maximum age of the revision of users and roles. */
    private static final long MOST_AGE_NANOS = TimeUnit.SECONDS.toNanos(1);

    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);
    private static final int MOST_USERS = 10_000;
    private static final int MOST_ROLES = 10_000;

    /** Concurrent reads of users: each costs the voting members some proposals. */
    private static final int MOST_READ = 64;

    /** Attempts to read a user while users or roles change. */
    private static final int MOST_TRIES = 5;

    private static final String ROOT = "root";

    private final RoleSource source;
    private final LongSupplier clock;
    private final Cache<String, User> users =
            Caffeine.newBuilder().maximumSize(MOST_USERS).build();
    private final Cache<String, Role> roles =
            Caffeine.newBuilder().maximumSize(MOST_ROLES).build();
    private final ConcurrentMap<String, CompletableFuture<User>> reading = new ConcurrentHashMap<>();
    private final AtomicReference<@Nullable CompletableFuture<Current>> revisionRead = new AtomicReference<>();
    private final AtomicBoolean failing = new AtomicBoolean();
    private volatile @Nullable Current current;
    private volatile long failedNanos;

    RoleAuthorizer(RoleSource source) {
        this(source, System::nanoTime);
    }

    /** @param clock in nanoseconds, measures the age of a revision and the pause after a failure */
    RoleAuthorizer(RoleSource source, LongSupplier clock) {
        this.source = source;
        this.clock = clock;
        this.failedNanos = clock.getAsLong() - PAUSE_NANOS;
    }

    /**
     * A user at a revision of users and roles.
     *
     * @param readable null if there is no such user
     */
    private record User(long revision, @Nullable ReadableKeys readable) {}

    private record Role(long revision, List<io.etcd.jetcd.api.Permission> permissions) {}

    /** The revision of users and roles, current at {@code sentNanos} or later. */
    private record Current(long revision, long sentNanos) {
        boolean counts(long nowNanos) {
            return nowNanos - sentNanos < MOST_AGE_NANOS;
        }
    }

    @Override
    public CompletableFuture<Verdict> authorize(Principal.Certificate principal, Permission wanted) {
        if (wanted == Permission.Standing.NONE || wanted == Permission.Standing.USER) {
            return CompletableFuture.completedFuture(Verdict.GRANTED);
        }
        if (principal.equals(Principal.Certificate.UNREADABLE)) {
            return CompletableFuture.completedFuture(verdict(null, wanted));
        }
        return user(principal.commonName()).thenApply(user -> verdict(user.readable(), wanted));
    }

    /** {@code auth/store.go}: isOpPermitted, IsAdminPermitted. */
    private static Verdict verdict(@Nullable ReadableKeys user, Permission wanted) {
        if (wanted instanceof Permission.Read read) {
            return user != null && user.covers(read)
                    ? Verdict.GRANTED
                    : new Verdict.Refused(ApiException.permissionDenied());
        }
        if (user == null) {
            return new Verdict.Refused(
                    new ApiException(Status.Code.FAILED_PRECONDITION, "etcdserver: user name not found"));
        }
        return user.everything() ? Verdict.GRANTED : new Verdict.Refused(ApiException.permissionDenied());
    }

    private CompletableFuture<User> user(String name) {
        Current known = current;
        if (known != null && known.counts(clock.getAsLong())) {
            return user(name, known);
        }
        return shared().thenCompose(now -> user(name, now));
    }

    private CompletableFuture<User> user(String name, Current now) {
        User known = users.getIfPresent(name);
        if (known != null && known.revision() == now.revision()) {
            return CompletableFuture.completedFuture(known);
        }
        CompletableFuture<User> read = new CompletableFuture<>();
        CompletableFuture<User> same = reading.putIfAbsent(name, read);
        if (same != null) {
            // It may be of an earlier revision.
            return same.thenCompose(user ->
                    user.revision() < now.revision() ? user(name, now) : CompletableFuture.completedFuture(user));
        }
        if (reading.size() > MOST_READ) {
            reading.remove(name, read);
            return CompletableFuture.failedFuture(ApiException.tooManyRequests());
        }
        var unused = read(name, now, MOST_TRIES).whenComplete((user, failure) -> {
            reading.remove(name, read);
            if (failure == null) {
                read.complete(user);
            } else {
                read.completeExceptionally(failure);
            }
        });
        return read;
    }

    /** Reads a user with its roles; the revision must be the same before and after. */
    private CompletableFuture<User> read(String name, Current before, int triesLeft) {
        if (triesLeft == 0) {
            return CompletableFuture.failedFuture(ApiException.timedOut());
        }
        return source.rolesOf(name)
                .thenCompose(names -> user(names.orElse(null), before.revision()))
                .thenCompose(user -> revision().thenCompose(after -> {
                    if (after.revision() != before.revision()) {
                        return read(name, after, triesLeft - 1);
                    }
                    users.put(name, user);
                    return CompletableFuture.completedFuture(user);
                }));
    }

    private CompletableFuture<User> user(@Nullable List<String> roleNames, long revision) {
        if (roleNames == null) {
            return CompletableFuture.completedFuture(new User(revision, null));
        }
        if (roleNames.contains(ROOT)) {
            return CompletableFuture.completedFuture(new User(revision, ReadableKeys.EVERYTHING));
        }
        CompletableFuture<List<io.etcd.jetcd.api.Permission>> all =
                CompletableFuture.completedFuture(new ArrayList<>());
        for (String each : roleNames) {
            all = all.thenCompose(some -> role(each, revision).thenApply(role -> {
                some.addAll(role.permissions());
                return some;
            }));
        }
        return all.thenApply(permissions -> new User(revision, ReadableKeys.of(permissions)));
    }

    /** Cached roles are valid at their own revision only. A role changed meanwhile is discarded by {@link #read}. */
    private CompletableFuture<Role> role(String name, long revision) {
        Role known = roles.getIfPresent(name);
        if (known != null && known.revision() == revision) {
            return CompletableFuture.completedFuture(known);
        }
        return source.permissionsOf(name).thenApply(permissions -> {
            Role role = new Role(revision, List.copyOf(permissions));
            roles.put(name, role);
            return role;
        });
    }

    /** Reads the revision once for all concurrent callers. */
    private CompletableFuture<Current> shared() {
        if (clock.getAsLong() - failedNanos < PAUSE_NANOS) {
            return CompletableFuture.failedFuture(ApiException.timedOut());
        }
        CompletableFuture<Current> round = new CompletableFuture<>();
        while (!revisionRead.compareAndSet(null, round)) {
            CompletableFuture<Current> other = revisionRead.get();
            if (other != null) {
                return other;
            }
        }
        var unused = revision().whenComplete((now, failure) -> {
            revisionRead.set(null);
            if (failure == null) {
                round.complete(now);
            } else {
                round.completeExceptionally(failure);
            }
        });
        return round;
    }

    private CompletableFuture<Current> revision() {
        long sentNanos = clock.getAsLong();
        return source.revision().handle((revision, failure) -> {
            if (failure != null) {
                failedNanos = clock.getAsLong();
                if (failing.compareAndSet(false, true)) {
                    LOG.atWarn()
                            .addKeyValue("cause", failure.toString())
                            .log("reading users and roles failed; rejecting clients identified by certificate");
                }
                throw failure instanceof CompletionException wrapped ? wrapped : new CompletionException(failure);
            }
            if (failing.compareAndSet(true, false)) {
                LOG.atInfo().addKeyValue("revision", revision).log("reading users and roles recovered");
            }
            Current now = new Current(revision, sentNanos);
            current = now;
            return now;
        });
    }

    /**
     * The readable keys of a user: the union of all roles' permissions ({@code auth/range_perm_cache.go}).
     *
     * @param ranges in order, with keys between them
     */
    record ReadableKeys(boolean everything, List<KeyRange> ranges) {

        static final ReadableKeys EVERYTHING = new ReadableKeys(true, List.of());

        private static final ByteString FROM_KEY = ByteString.copyFrom(new byte[] {0});

        /** Returns the keys that these permissions cover together. */
        static ReadableKeys of(Collection<io.etcd.jetcd.api.Permission> permissions) {
            List<KeyRange> sorted = permissions.stream()
                    .filter(each -> each.getPermType() != io.etcd.jetcd.api.Permission.Type.WRITE)
                    .filter(each -> !each.getKey().isEmpty())
                    .map(each -> range(each.getKey(), each.getRangeEnd()))
                    .sorted(Comparator.comparing(KeyRange::from, KeyRange.KEY_ORDER))
                    .collect(Collectors.toCollection(ArrayList::new));
            List<KeyRange> joined = new ArrayList<>();
            for (KeyRange next : sorted) {
                KeyRange last = joined.isEmpty() ? null : joined.get(joined.size() - 1);
                if (last == null || (last.to() != null && isBefore(last.to(), next.from()))) {
                    joined.add(next);
                } else if (!last.covers(next)) {
                    joined.set(joined.size() - 1, new KeyRange(last.from(), next.to()));
                }
            }
            return new ReadableKeys(false, List.copyOf(joined));
        }

        boolean covers(Permission.Read read) {
            if (everything) {
                return true;
            }
            KeyRange wanted = range(read.key(), read.end());
            int low = 0;
            int high = ranges.size();
            while (low < high) {
                int middle = (low + high) >>> 1;
                if (isBefore(wanted.from(), ranges.get(middle).from())) {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            return low > 0 && ranges.get(low - 1).covers(wanted);
        }

        /** The range as in etcd: one that ends before it begins is its first key. */
        private static KeyRange range(ByteString key, ByteString end) {
            if (end.equals(FROM_KEY)) {
                return KeyRange.fromKey(key);
            }
            return isBefore(key, end) ? new KeyRange(key, end) : KeyRange.single(key);
        }

        private static boolean isBefore(ByteString one, ByteString other) {
            return KeyRange.KEY_ORDER.compare(one, other) < 0;
        }
    }
}
