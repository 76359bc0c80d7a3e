package io.understudy.mirror.auth;

import com.google.protobuf.TextFormat;
import io.etcd.jetcd.api.Compare;
import io.micrometer.core.instrument.MeterRegistry;
import io.understudy.etcd.AuthStatus;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.mirror.auth.AuthRegister.Brought;
import io.understudy.mirror.auth.AuthTarget.OvertakenException;
import io.understudy.mirror.auth.PasswordFile.PasswordHash;
import io.understudy.mirror.call.CallFailedException;
import io.understudy.mirror.scope.ReservedKeys;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps roles, grants and users of the target equal to the source's. It polls the source for changes. After a change,
 * and periodically, it compares both sides and repairs each difference. It never enables or disables authentication.
 * Its failures do not affect the mirror. One thread.
 *
 * <p>Nothing is copied while a move has closed a cluster to clients: the mark in {@link ReservedKeys#FREEZES} covers
 * that time. A read counts if there is no mark, and the revision of users and roles is the same before and after.
 *
 * <p>Invariant M13: a copied user can log in by certificate, and by password only with a configured hash; a source that
 * lost its users removes none.
 */
public final class AuthCopy implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(AuthCopy.class);

    /** Interval at which activity is checked and failures are first retried. */
    private static final Duration TICK = Duration.ofSeconds(1);

    private static final String FROZEN =
            "a move of the primary role closed the %s to clients, as recorded under the prefix "
                    + TextFormat.escapeBytes(ReservedKeys.FREEZES.from())
                    + "; if it was abandoned, grant their permissions again and delete these keys";

    private static final long CLOSE_MILLIS = 2_000;
    private static final int READS = 5;

    private static final String OK = "ok";
    private static final String HELD = "held";
    private static final String OVERTAKEN = "overtaken";
    private static final String FAILED = "failed";

    /** A revision that no cluster has. */
    private static final long UNKNOWN = -1;

    private final String mirror;
    private final AuthOptions options;
    private final AuthCalls source;
    private final AuthCalls target;
    private final AuthRegister register;
    private final String writer;
    private final BooleanSupplier active;
    private final Supplier<Optional<Compare>> epoch;
    private final AuthMetrics metrics;
    private final Thread thread;

    private volatile AuthReport report = AuthReport.NOTHING;

    // Of the thread.
    private Map<String, PasswordHash> passwords = Map.of();
    private @Nullable String unreadPasswords;
    private long comparedRevision = UNKNOWN;
    private Map<String, PasswordHash> comparedHashes = Map.of();
    private long comparedNanos;
    private @Nullable Compare knownEpoch;
    private long lookedNanos;
    /** Whether the last comparison is incomplete. */
    private boolean isToRepeat;
    /** Whether the last comparison changed anything: then it is retried without backoff. */
    private boolean hasChanged;
    /** Delay before a retry. */
    private Duration pause = TICK;

    private Set<String> loggedLeftAlone = Set.of();

    /**
     * The caller closes both clusters.
     *
     * @param active whether this process mirrors, and the target is whole
     * @param epoch holds until another writer takes the mirror over; empty while this process isn't writing
     */
    public AuthCopy(
            String mirror,
            AuthOptions options,
            EtcdCluster source,
            EtcdCluster target,
            BooleanSupplier active,
            Supplier<Optional<Compare>> epoch,
            MeterRegistry meters) {
        this.mirror = mirror;
        this.options = options;
        this.source = new AuthCalls(source);
        this.target = new AuthCalls(target);
        this.register = new AuthRegister(mirror, target);
        Credentials login = target.settings().login();
        this.writer = login == null ? "" : login.user();
        this.active = active;
        this.epoch = epoch;
        this.metrics = new AuthMetrics(mirror, meters, () -> report);
        this.thread = new Thread(this::run, "mirror-" + mirror + "-auth");
        thread.setDaemon(true);
    }

    public void start() {
        thread.start();
    }

    /** Returns the state of the copy. Any thread. */
    public AuthReport report() {
        return report;
    }

    private void run() {
        long look = options.lookInterval().toNanos();
        try {
            while (true) {
                Optional<Compare> current = active.getAsBoolean() ? epoch.get() : Optional.empty();
                if (current.isEmpty()) {
                    // Another process that copied meanwhile may have changed anything.
                    comparedRevision = UNKNOWN;
                    isToRepeat = false;
                    pause = TICK;
                } else if (isDueToLook(look)) {
                    lookedNanos = System.nanoTime();
                    step(current.get());
                }
                TimeUnit.NANOSECONDS.sleep(Math.min(look, TICK.toNanos()));
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean isDueToLook(long lookNanos) {
        long since = System.nanoTime() - lookedNanos;
        return isToRepeat ? since >= pause.toNanos() : comparedRevision == UNKNOWN || since >= lookNanos;
    }

    /** Reads the password file again; one that can't be used changes nothing. */
    private Map<String, PasswordHash> readPasswords() {
        Path file = options.passwords();
        if (file != null) {
            try {
                passwords = PasswordFile.read(file);
                unreadPasswords = null;
            } catch (IllegalArgumentException e) {
                unreadPasswords = "password file reload failed; keeping previous passwords: " + e.getMessage();
            }
        }
        return passwords;
    }

    private void step(Compare current) throws InterruptedException {
        long began = System.nanoTime();
        String outcome;
        hasChanged = false;
        try {
            Map<String, PasswordHash> hashes = readPasswords();
            AuthStatus status = source.status();
            boolean isDue = isToRepeat
                    || !current.equals(knownEpoch)
                    || began - comparedNanos > options.compareInterval().toNanos()
                    || !hashes.equals(comparedHashes)
                    || status.revision() != comparedRevision;
            if (!isDue) {
                passed();
                return;
            }
            outcome = wentBack(status) ? FAILED : compare(hashes, current, began);
        } catch (OvertakenException e) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", e.getMessage())
                    .log("comparison of roles and users restarted");
            outcome = OVERTAKEN;
        } catch (CallFailedException e) {
            outcome = failed(e);
        } catch (RuntimeException | Error e) {
            if (Thread.interrupted()) {
                throw new InterruptedException("mirror is stopping");
            }
            failed(String.valueOf(e));
            outcome = FAILED;
        }
        isToRepeat = !outcome.equals(OK);
        Duration next = pause.multipliedBy(2);
        boolean isAtOnce = hasChanged || outcome.equals(OK) || outcome.equals(HELD);
        pause = isAtOnce ? TICK : next.compareTo(options.compareInterval()) < 0 ? next : options.compareInterval();
        metrics.compared(outcome, Duration.ofNanos(System.nanoTime() - began));
    }

    private String failed(CallFailedException failure) {
        if (failure.error() == EtcdError.INVALID_TOKEN || failure.error() == EtcdError.OLD_AUTH_REVISION) {
            return OVERTAKEN;
        }
        failed(failure.getMessage() + hint(failure));
        return FAILED;
    }

    /** Returns the result, with the reason unless it is {@link #OK}. */
    private String compare(Map<String, PasswordHash> hashes, Compare current, long began)
            throws CallFailedException, InterruptedException, OvertakenException {
        Optional<SourceRead> read = read();
        if (read.isEmpty()) {
            held(FROZEN.formatted("source"));
            return HELD;
        }
        if (target.hasAny(ReservedKeys.FREEZES)) {
            held(FROZEN.formatted("target"));
            return HELD;
        }
        AuthStatus status = read.get().status();
        if (wentBack(status)) {
            return FAILED;
        }
        Brought brought = register.read();
        if (read.get().held().isEmpty() && !brought.isEmpty()) {
            failed(
                    "the source no longer has roles and users; those copied to the target are kept. If they are no longer"
                            + " needed, delete them in the target, then the keys under " + register.shownKeys());
            return FAILED;
        }
        AuthPlan plan = AuthPlan.of(read.get().held(), target.read(), brought, hashes, writer);
        AuthTarget changed = new RegisteredTarget(target, register, current);
        CallFailedException refused = null;
        for (AuthTarget.Change change : plan.changes()) {
            if (!active.getAsBoolean()) {
                throw new OvertakenException("the mirror process is no longer active");
            }
            try {
                change.applyTo(changed);
                hasChanged = true;
                metrics.changed();
            } catch (CallFailedException e) {
                if (!isOfThisChange(e)) {
                    throw e;
                }
                refused = refused == null ? e : refused;
            }
        }
        logChanges(plan);
        if (refused != null) {
            throw refused;
        }
        register.putSeen(status.revision(), current);
        knownEpoch = current;
        comparedRevision = status.revision();
        comparedHashes = hashes;
        comparedNanos = began;
        report =
                report.compared(Instant.now(), status.enabled(), target.status().enabled(), register.read(), plan);
        passed();
        return OK;
    }

    /** Whether the failure concerns this change only, such as one that an older etcd rejects. */
    private static boolean isOfThisChange(CallFailedException failure) {
        return failure.isFinal()
                && switch (failure.error()) {
                    case PERMISSION_DENIED, USER_EMPTY, INVALID_TOKEN, OLD_AUTH_REVISION -> false;
                    default -> true;
                };
    }

    /** Whether the source was restored from a backup or wiped. Its keys may show that only later. */
    private boolean wentBack(AuthStatus status) throws CallFailedException, InterruptedException {
        long seen = register.seen();
        if (status.revision() >= seen) {
            return false;
        }
        failed("the auth revision of the source decreased from " + seen + " to " + status.revision()
                + ": the source was restored from a backup or wiped. To resume copying, delete the key "
                + register.shownSeen() + " in the target");
        return true;
    }

    /** Returns a consistent read of the source; empty while a switchover has withdrawn permissions. */
    private Optional<SourceRead> read() throws CallFailedException, InterruptedException, OvertakenException {
        AuthStatus status = source.status();
        for (int reads = 0; reads < READS; reads++) {
            if (source.hasAny(ReservedKeys.FREEZES)) {
                return Optional.empty();
            }
            Authorisation held = source.read();
            boolean isWithdrawn = source.hasAny(ReservedKeys.FREEZES);
            AuthStatus after = source.status();
            if (isWithdrawn) {
                return Optional.empty();
            }
            if (after.equals(status)) {
                return Optional.of(new SourceRead(held, status));
            }
            status = after;
        }
        throw new OvertakenException("roles or users of the source changed during each read");
    }

    /** The source's state at an auth revision. */
    private record SourceRead(Authorisation held, AuthStatus status) {}

    private void logChanges(AuthPlan plan) {
        if (!plan.changes().isEmpty()) {
            LOG.atInfo()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("changes", plan.changes().size())
                    .log("roles and users updated");
        }
        Set<String> leftAlone = new HashSet<>();
        plan.rolesLeftAlone().forEach(role -> leftAlone.add("role " + role));
        plan.usersLeftAlone().forEach(user -> leftAlone.add("user " + user));
        for (String each : leftAlone) {
            if (!loggedLeftAlone.contains(each)) {
                LOG.atWarn()
                        .addKeyValue("mirror", mirror)
                        .addKeyValue("name", each)
                        .log("role or user of the target not overwritten");
            }
        }
        loggedLeftAlone = leftAlone;
    }

    private void held(String why) {
        if (report.held() == null) {
            LOG.atWarn()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", why)
                    .log("copying of roles and users paused");
        }
        report = report.held(why);
    }

    private void failed(String why) {
        if (report.problem() == null) {
            LOG.atError()
                    .addKeyValue("mirror", mirror)
                    .addKeyValue("cause", why)
                    .log("copying of roles and users failed");
        }
        report = report.failing(why);
    }

    private void passed() {
        if (unreadPasswords != null) {
            failed(unreadPasswords);
        } else if (report.problem() != null || report.held() != null) {
            LOG.atInfo().addKeyValue("mirror", mirror).log("copying of roles and users resumed");
            report = report.well();
        }
    }

    private static String hint(CallFailedException failure) {
        return switch (failure.error()) {
            case PERMISSION_DENIED, USER_EMPTY ->
                "; auth: copy requires users with the role root in each cluster with authentication enabled";
            default -> "";
        };
    }

    /** Interrupts the running comparison and waits briefly for its end. */
    @Override
    public void close() {
        thread.interrupt();
        try {
            thread.join(CLOSE_MILLIS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
