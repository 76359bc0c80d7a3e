package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.Compare;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.etcd.jetcd.api.TxnResponse;
import io.understudy.mirror.fixture.Mirrors;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;

/**
 * Clients that write without pause at whichever side accepts, and check that no acknowledged write is lost.
 *
 * <p>One thread writes a register, each value once, by a transaction that compares the value before. So each write names the
 * one that it follows, and an acknowledged write that the next one does not follow is lost. Another tenant writes other keys
 * at each side. Clients queue for a lock, one of them at the first side only; no two may hold it.
 */
final class Writers implements AutoCloseable {

    private static final Duration PACE = Duration.ofMillis(10);
    private static final Duration LEASE_TTL = Duration.ofHours(1);
    private static final int LEASE_WRITES = 40;

    private enum Kind {
        PUT,
        DELETE,
        TXN,
        LEASE
    }

    /**
     * @param value empty for a delete
     * @param revision 0 for one of unknown outcome
     * @param follows index of the write that it replaces; -1 for none
     */
    private record Write(Optional<String> value, int side, long revision, int follows) {}

    /** Writes at a side after one revision, up to another. */
    private record Span(int side, long after, long until) {
        boolean contains(Write write) {
            return write.side() == side && write.revision() > after && write.revision() <= until;
        }
    }

    private final String prefix;
    private final List<TakeOverCalls> sides;
    private final List<Register> registers = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final List<Worker> workers = new ArrayList<>();
    private final List<Span> lost = new CopyOnWriteArrayList<>();
    private final List<String> problems = new CopyOnWriteArrayList<>();
    /** Of writes that were not permitted, by side. */
    private final List<AtomicInteger> refused = List.of(new AtomicInteger(), new AtomicInteger());

    private final ConcurrentLinkedQueue<String> refusedTenants = new ConcurrentLinkedQueue<>();
    private final AtomicInteger acknowledged = new AtomicInteger();
    private final LockQueue locks = new LockQueue(problems);
    private volatile Duration pace = PACE;
    private volatile boolean mayMove;
    private volatile boolean isStopped;

    /** @param mayMove whether clients try the other side when one does not acknowledge */
    Writers(TwoSites sites, int writers, boolean mayMove) {
        this(sites, TwoSites.DR.prefix(), writers, mayMove);
    }

    /** @param prefix of their keys */
    Writers(TwoSites sites, String prefix, int writers, boolean mayMove) {
        this.prefix = prefix;
        this.sides = List.of(sites.client(sites.source), sites.client(sites.target));
        this.mayMove = mayMove;
        for (int n = 0; n < writers; n++) {
            Worker worker = new Worker(n);
            workers.add(worker);
            start("writer-" + n, worker);
        }
        for (int side = 0; side < 2; side++) {
            Tenant tenant = new Tenant(side);
            start("tenant-" + side, tenant);
        }
    }

    /** Adds clients that queue for a lock. */
    Writers withLocks() {
        for (int n = 0; n < 3; n++) {
            boolean stays = n == 0;
            String name = "contender-" + n;
            start(name, () -> {
                LockQueue.Contender contender = locks.contender(sides, name, !stays);
                while (!isStopped) {
                    contender.round();
                }
            });
        }
        return this;
    }

    /** Sets each writer's pause between two writes. */
    Writers paced(Duration each) {
        pace = each;
        return this;
    }

    private void start(String name, Runnable work) {
        Thread thread = new Thread(work, name);
        thread.setDaemon(true);
        thread.start();
        threads.add(thread);
    }

    void mayMove() {
        mayMove = true;
    }

    /** Waits until so many more writes are acknowledged. */
    void await(int more) {
        int goal = acknowledged.get() + more;
        Awaitility.await()
                .atMost(Mirrors.PATIENCE)
                .pollInterval(Duration.ofMillis(10))
                .until(() -> acknowledged.get() >= goal);
    }

    /** Waits until the lock is held again, which takes its TTL if a holder was left behind. */
    void awaitLock() {
        int before = locks.held();
        Awaitility.await().atMost(Mirrors.PATIENCE).until(() -> locks.held() > before);
    }

    int acknowledged() {
        return acknowledged.get();
    }

    int locksHeld() {
        return locks.held();
    }

    /** Whether keys that a report names are of the lock's queue, at least one. */
    static boolean areLocks(Collection<?> named) {
        return !named.isEmpty() && named.stream().allMatch(key -> key.toString().startsWith("\"/app/lock/"));
    }

    /** How many writes a side did not permit. */
    int refused(int side) {
        return refused.get(side).get();
    }

    /** Writes of the other tenant that were not permitted. */
    List<String> refusedTenants() {
        return List.copyOf(refusedTenants);
    }

    /** A failover reported that writes after a revision of a side may be lost, up to the one at which it was closed. */
    void lost(int side, long after, long until) {
        lost.add(new Span(side, after, until));
    }

    /** Keys of which the last write was acknowledged in the lost part of a side's history. */
    List<String> lostKeys(int side, long after, long until) {
        Span span = new Span(side, after, until);
        return registers.stream()
                .filter(register -> register.endsIn(span))
                .flatMap(register -> register.keys.stream())
                .map(key -> TakeOverReport.shown(ByteString.copyFromUtf8(key)))
                .toList();
    }

    /** Each writer's longest time without an acknowledged write since the last call, in milliseconds, sorted. */
    List<Long> pauses() {
        return workers.stream().map(Worker::pause).sorted().toList();
    }

    /** Every acknowledged write was followed by the next one, or is lost as reported. */
    void verify() {
        registers.forEach(Register::check);
        assertThat(problems).isEmpty();
    }

    /** To be called when all have stopped. */
    void verifyAt(int primary) {
        for (Register register : registers) {
            register.checkEnd(sides.get(primary));
        }
        verify();
    }

    private static boolean isRefused(TakeOverException e) {
        String message = String.valueOf(e.getMessage());
        return message.contains("permission denied") || message.contains("user name is empty");
    }

    @Override
    public void close() {
        isStopped = true;
        locks.stop();
        Awaitility.await().atMost(Mirrors.PATIENCE).until(() -> threads.stream().noneMatch(Thread::isAlive));
    }

    private final class Worker implements Runnable {

        private final List<Register> own = new ArrayList<>();
        private long acknowledgedAt = System.nanoTime();
        private long longest;

        Worker(int id) {
            for (Kind kind : Kind.values()) {
                Register register = new Register(id + "/" + kind, kind);
                own.add(register);
                registers.add(register);
            }
        }

        @Override
        public void run() {
            while (!isStopped) {
                for (Register register : own) {
                    if (register.isWritten()) {
                        acknowledged();
                    }
                    PatientCalls.pause(pace);
                }
            }
        }

        private synchronized void acknowledged() {
            long now = System.nanoTime();
            longest = Math.max(longest, now - acknowledgedAt);
            acknowledgedAt = now;
            acknowledged.incrementAndGet();
        }

        synchronized long pause() {
            long pause = Math.max(longest, System.nanoTime() - acknowledgedAt) / 1_000_000;
            longest = 0;
            acknowledgedAt = System.nanoTime();
            return pause;
        }
    }

    /** Keys that are written together. */
    private final class Register {

        private final String id;
        private final Kind kind;
        private final List<String> keys;
        private final List<Write> writes = new ArrayList<>();
        /** Index of the present write, as last known. */
        private int known = -1;

        private int side;
        private long lease;
        private int checked;

        Register(String id, Kind kind) {
            this.id = id;
            this.kind = kind;
            this.keys = kind == Kind.TXN ? List.of(prefix + id + "/a", prefix + id + "/b") : List.of(prefix + id);
        }

        /** Whether a write is acknowledged. */
        boolean isWritten() {
            int number = writes.size();
            Optional<String> value =
                    kind == Kind.DELETE && number % 2 == 1 ? Optional.empty() : Optional.of(String.valueOf(number));
            try {
                TxnResponse answer = sides.get(side).txn("a write", request(value));
                if (answer.getSucceeded()) {
                    add(new Write(value, side, answer.getHeader().getRevision(), known));
                    known = number;
                    return true;
                }
                known = present(answer);
            } catch (TakeOverException e) {
                add(new Write(value, side, 0, known));
                if (isRefused(e)) {
                    refused.get(side).incrementAndGet();
                }
                if (String.valueOf(e.getMessage()).contains("lease not found")) {
                    lease = 0;
                }
                side = mayMove ? 1 - side : side;
            }
            return false;
        }

        private synchronized void add(Write write) {
            writes.add(write);
        }

        private TxnRequest request(Optional<String> value) {
            TxnRequest.Builder txn = TxnRequest.newBuilder();
            if (kind == Kind.LEASE && (lease == 0 || writes.size() % LEASE_WRITES == 0)) {
                lease = sides.get(side).grantLease(LEASE_TTL);
            }
            for (String name : keys) {
                ByteString key = ByteString.copyFromUtf8(name);
                txn.addCompare(isPresent(key));
                txn.addFailure(Records.get(key));
                txn.addSuccess(value.map(text -> RequestOp.newBuilder()
                                .setRequestPut(PutRequest.newBuilder()
                                        .setKey(key)
                                        .setValue(ByteString.copyFromUtf8(text))
                                        .setLease(lease))
                                .build())
                        .orElseGet(() -> Records.delete(key)));
            }
            return txn.build();
        }

        private Compare isPresent(ByteString key) {
            Compare.Builder compare = Compare.newBuilder().setKey(key).setResult(Compare.CompareResult.EQUAL);
            Optional<String> value =
                    known < 0 ? Optional.empty() : writes.get(known).value();
            return value.map(text ->
                            compare.setTarget(Compare.CompareTarget.VALUE).setValue(ByteString.copyFromUtf8(text)))
                    .orElseGet(() ->
                            compare.setTarget(Compare.CompareTarget.VERSION).setVersion(0))
                    .build();
        }

        private int present(TxnResponse answer) {
            List<Optional<String>> values = answer.getResponsesList().stream()
                    .map(each -> each.getResponseRange().getKvsList().stream()
                            .findFirst()
                            .map(this::value))
                    .distinct()
                    .toList();
            if (values.size() != 1) {
                problems.add(id + " is torn: " + values);
            }
            return values.get(0).map(Integer::parseInt).orElseGet(() -> {
                for (int i = writes.size() - 1; i >= 0; i--) {
                    if (writes.get(i).value().isEmpty()) {
                        return i;
                    }
                }
                return -1;
            });
        }

        private String value(KeyValue found) {
            if (kind == Kind.LEASE && found.getLease() == 0) {
                problems.add(id + " has no lease");
            }
            return found.getValue().toStringUtf8();
        }

        synchronized void check() {
            for (; checked < writes.size(); checked++) {
                Write write = writes.get(checked);
                if (isKept(write)) {
                    requireFollowed(write.follows(), checked, write.toString());
                }
            }
        }

        synchronized void checkEnd(TakeOverCalls primary) {
            TxnRequest.Builder reads = TxnRequest.newBuilder();
            keys.forEach(key -> reads.addSuccess(Records.get(ByteString.copyFromUtf8(key))));
            requireFollowed(present(primary.with(Mirrors.PATIENCE).txn("a read", reads.build())), writes.size(), "end");
        }

        private void requireFollowed(int present, int next, String what) {
            for (int i = present + 1; i < next; i++) {
                if (isKept(writes.get(i))) {
                    problems.add(id + ": write " + i + " " + writes.get(i) + " is lost at " + what + ", which follows "
                            + present);
                }
            }
        }

        private boolean isKept(Write write) {
            return write.revision() > 0 && lost.stream().noneMatch(span -> span.contains(write));
        }

        synchronized boolean endsIn(Span span) {
            Optional<Write> last = writes.stream()
                    .filter(write ->
                            write.side() == span.side() && (write.revision() == 0 || write.revision() <= span.until()))
                    .reduce((one, other) -> other);
            return last.isPresent()
                    && span.contains(last.get())
                    && last.get().value().isPresent();
        }
    }

    /** Writes keys that are not mirrored, each at one side. */
    private final class Tenant implements Runnable {

        private final int side;

        Tenant(int side) {
            this.side = side;
        }

        @Override
        public void run() {
            ByteString key = ByteString.copyFromUtf8("/tenant/" + side);
            for (int i = 0; !isStopped; i++) {
                ByteString value = ByteString.copyFromUtf8(String.valueOf(i));
                try {
                    var unused = sides.get(side)
                            .txn(
                                    "a write",
                                    TxnRequest.newBuilder()
                                            .addSuccess(Records.put(key, value))
                                            .build());
                } catch (TakeOverException e) {
                    if (isRefused(e)) {
                        refusedTenants.add("side " + side + ": " + e.getMessage());
                    }
                }
                PatientCalls.pause(PACE);
            }
        }
    }
}
