package io.understudy.gateway.read;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.TxnRequest;
import io.grpc.Status;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdFailure;
import io.understudy.etcd.EtcdMessages;
import io.understudy.etcd.EtcdVersion;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.Entries;
import io.understudy.gateway.api.KeySpace;
import io.understudy.gateway.api.OpResult.RangeResult;
import io.understudy.gateway.api.OpResult.TxnResult;
import io.understudy.gateway.api.RangeEvaluation;
import io.understudy.gateway.api.RangeRequests;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.api.TxnPlan;
import io.understudy.gateway.api.TxnPlan.TxnPath;
import io.understudy.gateway.api.TxnRequests;
import io.understudy.gateway.read.Evaluations.ConcurrencyLimiter;
import io.understudy.gateway.read.Operation.Fetched;
import io.understudy.gateway.read.Operation.Need;
import io.understudy.gateway.read.ReadSource.ReadableCluster;
import io.understudy.gateway.read.SourceRange.SourceAnswer;
import io.understudy.gateway.replica.Entry;
import io.understudy.vocabulary.KeyRange;
import io.understudy.vocabulary.Revision;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Proxies reads to the source as serializable ranges, the only reads that a learner serves. Called and completed on an
 * event loop.
 *
 * <p>A learner rejects transactions, so a transaction is read as ranges pinned to one revision: first the compared
 * keys, then those of the chosen branch. A range of many keys is read by {@link SourcePages}. Concurrency is bounded
 * here, the size of one response by {@link #MOST_BYTES}, and the total size by a {@link ByteBudget}.
 */
final class SourceReads implements Upstream {

    private static final Logger LOG = LoggerFactory.getLogger(SourceReads.class);

    /** Attempts of a read if its pinned revision is compacted. */
    private static final int MOST_PINS = 3;

    /** Limit of one response, which takes several times its size while decoded. */
    static final int MOST_BYTES = (int) Math.min(64L << 20, Runtime.getRuntime().maxMemory() / 8);

    private static final long ENTRY_BYTES = 3L << 19;

    private final RangeRequest revisionOnly;
    /** Readable unless the source was compacted beyond the first revision, which precedes all keys. */
    private final RangeRequest firstRevision;

    private final AtomicBoolean faultLogged = new AtomicBoolean();
    private final Vertx vertx;
    private final Supplier<ReadableCluster> source;
    private final ResponseHeaders headers;
    private final Evaluations evaluations;
    private final ConcurrencyLimiter limiter;
    private final ReadSettings settings;

    /** @param readable keys that the gateway may read at the source, at least */
    SourceReads(
            Vertx vertx,
            Supplier<ReadableCluster> source,
            KeyRange readable,
            ResponseHeaders headers,
            ReadSettings settings,
            Evaluations evaluations) {
        this.revisionOnly = RangeRequest.newBuilder()
                .setKey(readable.etcdKey())
                .setCountOnly(true)
                .build();
        this.firstRevision = revisionOnly.toBuilder().setRevision(1).build();
        this.vertx = vertx;
        this.source = source;
        this.headers = headers;
        this.evaluations = evaluations;
        this.settings = settings;
        this.limiter = new ConcurrencyLimiter(vertx, settings.maxPassedThrough(), settings.maxWaiting());
    }

    @Override
    public Future<Fetched<RangeResult>> range(RangeRequest request, Need need) {
        return limiter.take(need.client().session(), () -> readWhole(source.get(), request, need)
                .map(answer -> new Fetched<>(
                        result(request, answer, header(answer)), answer.revision(), answer.origin(), answer.bytes())));
    }

    @Override
    public Future<Fetched<TxnResult>> txn(TxnRequest request, Need need) {
        return limiter.take(need.client().session(), () -> txn(source.get(), request, need));
    }

    /** Reads of one cluster. */
    private Future<Fetched<TxnResult>> txn(ReadableCluster from, TxnRequest request, Need need) {
        return pinned(need, 1, () -> read(from, revisionOnly, need.asGateway())
                .compose(pin -> txnAt(from, pin, request, need)));
    }

    /** Retries if the pinned revision is compacted, since the client requested the latest. */
    private static <T> Future<T> pinned(Need need, int pins, Supplier<Future<T>> attempt) {
        return attempt.get().recover(why -> {
            boolean again = why instanceof PinLost && pins < MOST_PINS && need.deadlineNanos() - System.nanoTime() > 0;
            return again
                    ? pinned(need, pins + 1, attempt)
                    : Future.failedFuture(why instanceof PinLost ? ApiException.timedOut() : why);
        });
    }

    /** In pages, except for orders and filters for which etcd would read the whole range for each. */
    private Future<SourceAnswer> readWhole(ReadableCluster from, RangeRequest request, Need need) {
        if (request.getRangeEnd().isEmpty() || request.getCountOnly() || !RangeEvaluation.isScan(request)) {
            return read(from, request, need);
        }
        long largest = Math.max(MOST_BYTES, settings.mostHeldBytes());
        BiFunction<RangeRequest, @Nullable SourceAnswer, Future<SourceAnswer>> read = (page, first) -> first == null
                ? read(from, page, need)
                : readPinned(from, page, need.pinnedAt(first.revision()).within(settings.timeout()));
        return pinned(need, 1, () -> new SourcePages(request, need.room(), largest, read).read());
    }

    /** The revision that a read was pinned to is compacted. */
    private static final class PinLost extends Exception {
        PinLost(Throwable cause) {
            super(cause);
        }
    }

    private Future<Fetched<TxnResult>> txnAt(ReadableCluster from, SourceAnswer pin, TxnRequest request, Need need) {
        Revision revision = new Revision(pin.revision());
        Need pinned = need.pinnedAt(pin.revision());
        TxnPlan plan = new TxnPlan(request);
        List<RangeRequest> ranges = plan.compared().stream()
                .map(keys ->
                        EtcdMessages.range(keys).setRevision(pin.revision()).build())
                .toList();
        return readAll(from, ranges, pinned)
                .compose(answers -> isShort(answers)
                        ? Future.succeededFuture(choose(plan, revision, answers))
                        : evaluations.inTurn(
                                need.client().session(), () -> evaluations.run(() -> choose(plan, revision, answers))))
                .compose(path -> onPath(from, path, pin, pinned));
    }

    /** Whether they may be compared on the event loop. */
    private static boolean isShort(List<SourceAnswer> answers) {
        return answers.stream().mapToLong(answer -> answer.entries().size()).sum() <= Evaluations.MOST_ON_LOOP;
    }

    private static TxnPath choose(TxnPlan plan, Revision revision, List<SourceAnswer> answers) {
        FetchedKeys compared = new FetchedKeys(revision);
        answers.forEach(answer -> compared.add(answer.entries()));
        return plan.choose(compared);
    }

    private Future<Fetched<TxnResult>> onPath(ReadableCluster from, TxnPath path, SourceAnswer pin, Need pinned) {
        ResponseHeader header = header(pin);
        List<RangeRequest> dated = path.ranges().stream()
                .map(range -> range.getRevision() > 0
                        ? range
                        : range.toBuilder().setRevision(pinned.revision()).build())
                .toList();
        boolean unlessCompacted =
                path.ranges().stream().anyMatch(range -> range.getRevision() == TxnPath.LATEST_UNLESS_COMPACTED);
        Future<?> readable = unlessCompacted ? read(from, firstRevision, pinned.asGateway()) : Future.succeededFuture();
        return readable.compose(yes -> readAll(from, dated, pinned)).compose(answers -> {
            List<RangeResult> results = new ArrayList<>();
            for (int i = 0; i < answers.size(); i++) {
                results.add(result(dated.get(i), answers.get(i), header));
            }
            try {
                return Future.succeededFuture(new Fetched<>(
                        path.result(results, header),
                        pin.revision(),
                        pin.origin(),
                        answers.stream().mapToLong(SourceAnswer::bytes).sum()));
            } catch (ApiException e) {
                return Future.failedFuture(e);
            }
        });
    }

    /** Upper bound of the answer: the limit times etcd's default request size. */
    static long mostBytes(RangeRequest request) {
        if (request.getCountOnly()) {
            return 0;
        }
        long entries = request.getRangeEnd().isEmpty() ? 1 : request.getLimit();
        return entries <= 0 || entries > MOST_BYTES / ENTRY_BYTES ? MOST_BYTES : entries * ENTRY_BYTES;
    }

    /** Upper bound of all ranges of a transaction, including compared keys. */
    static long mostBytes(TxnRequest request) {
        long entries = 0;
        for (KeyRange keys : TxnRequests.ranges(request)) {
            if (!keys.equals(KeyRange.single(keys.from()))) {
                return MOST_BYTES;
            }
            entries++;
        }
        return Math.min(MOST_BYTES, entries * ENTRY_BYTES);
    }

    /** Returns the answers in order; fails with the first failure. */
    private Future<List<SourceAnswer>> readAll(ReadableCluster from, List<RangeRequest> requests, Need pinned) {
        return new SourceRanges(requests, request -> readPinned(from, request, pinned)).read();
    }

    /** A compacted revision that the client named itself is the client's error. */
    private Future<SourceAnswer> readPinned(ReadableCluster from, RangeRequest request, Need pinned) {
        return read(from, request, pinned)
                .recover(why -> Future.failedFuture(
                        request.getRevision() == pinned.revision() && isCompacted(why) ? new PinLost(why) : why));
    }

    private static boolean isCompacted(Throwable why) {
        return why instanceof ApiException refusal && EtcdErrors.error(refusal.text()) == EtcdError.COMPACTED;
    }

    private Future<SourceAnswer> read(ReadableCluster from, RangeRequest request, Need need) {
        return request.getRevision() > 0 && request.getRevision() < from.oldest()
                ? Future.failedFuture(ApiException.compacted())
                : new SourceRange(
                                from.cluster(),
                                vertx.getOrCreateContext(),
                                request,
                                // A member of the new primary that lags behind the move lacks writes.
                                need.atLeast(from.oldest()),
                                refusal -> ownFault(from.cluster(), refusal))
                        .read()
                        .compose(answer -> from.answered().test(answer.revision())
                                ? Future.succeededFuture(answer)
                                : Future.failedFuture(ApiException.timedOut()));
    }

    private void ownFault(EtcdCluster cluster, EtcdFailure refusal) {
        if (faultLogged.compareAndSet(false, true)) {
            Credentials user = cluster.settings().login();
            LOG.atWarn()
                    .addKeyValue("user", user == null ? "" : user.user())
                    .addKeyValue("cause", refusal)
                    .log("source denied a proxied read (logged once)");
        }
    }

    private ResponseHeader header(SourceAnswer answer) {
        return headers.of(answer.cluster(), new Revision(answer.revision()));
    }

    private RangeResult result(RangeRequest request, SourceAnswer answer, ResponseHeader header) {
        EtcdVersion version = source.get().cluster().view().version();
        return new RangeResult(
                header,
                Entries.of(answer.entries()),
                RangeRequests.fields(request, version),
                answer.more(),
                answer.count());
    }

    /** Ranges fetched from the source at one revision. Filled before it is read. */
    private static final class FetchedKeys implements KeySpace {

        private final NavigableMap<ByteString, Entry> entries = new TreeMap<>(KeyRange.KEY_ORDER);
        private final Revision revision;

        FetchedKeys(Revision revision) {
            this.revision = revision;
        }

        void add(List<Entry> fetched) {
            fetched.forEach(entry -> entries.put(entry.key(), entry));
        }

        @Override
        public Revision revision() {
            return revision;
        }

        @Override
        public @Nullable Entry get(ByteString key) {
            return entries.get(key);
        }

        @Override
        public long count(KeyRange keys) {
            return inside(keys).size();
        }

        @Override
        public Entries entries(KeyRange keys, long limit) {
            return Entries.of(inside(keys).values().stream().limit(limit).toList());
        }

        @Override
        public Entries descending(KeyRange keys, long limit) {
            return Entries.of(
                    inside(keys).descendingMap().values().stream().limit(limit).toList());
        }

        private NavigableMap<ByteString, Entry> inside(KeyRange keys) {
            ByteString to = keys.to();
            return to == null ? entries.tailMap(keys.from(), true) : entries.subMap(keys.from(), true, to, false);
        }
    }

    /**
     * Reads the ranges of one transaction, a few at a time to save round trips. Their total size is bounded like one
     * response. Confined to the reader's event loop.
     */
    static final class SourceRanges {

        private static final int AT_A_TIME = 8;

        /** Message limit of connections to the source. */
        private static final long MAX_BYTES = 64L << 20;

        private final List<RangeRequest> requests;
        private final Function<RangeRequest, Future<SourceAnswer>> read;
        private final SourceAnswer[] answers;
        private final Promise<List<SourceAnswer>> promise = Promise.promise();
        private int sent;
        private int answered;
        private long bytes;

        SourceRanges(List<RangeRequest> requests, Function<RangeRequest, Future<SourceAnswer>> read) {
            this.requests = requests;
            this.read = read;
            this.answers = new SourceAnswer[requests.size()];
        }

        /** Returns the answers in the order of the requests; fails with the first failure. */
        Future<List<SourceAnswer>> read() {
            if (requests.isEmpty()) {
                return Future.succeededFuture(List.of());
            }
            for (int i = 0; i < AT_A_TIME; i++) {
                readNext();
            }
            return promise.future();
        }

        private void readNext() {
            if (sent == requests.size() || promise.future().isComplete()) {
                return;
            }
            int index = sent++;
            read.apply(requests.get(index)).onComplete(result -> {
                if (result.failed()) {
                    boolean unused = promise.tryFail(result.cause());
                } else {
                    keep(index, result.result());
                }
            });
        }

        private void keep(int index, SourceAnswer answer) {
            answers[index] = answer;
            answered++;
            bytes += answer.bytes();
            if (bytes > MAX_BYTES) {
                boolean unused = promise.tryFail(new ApiException(
                        Status.Code.RESOURCE_EXHAUSTED,
                        "understudy: transaction reads more than " + MAX_BYTES + " bytes from the source"));
            } else if (answered == answers.length) {
                boolean unused = promise.tryComplete(Arrays.asList(answers));
            } else {
                readNext();
            }
        }
    }
}
