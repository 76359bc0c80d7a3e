package io.understudy.mirror.takeover;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KeyValue;
import io.etcd.jetcd.api.PutRequest;
import io.etcd.jetcd.api.RangeRequest;
import io.etcd.jetcd.api.RequestOp;
import io.etcd.jetcd.api.TxnRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.etcd.Credentials;
import io.understudy.etcd.EtcdCluster;
import io.understudy.etcd.EtcdSettings;
import io.understudy.etcd.MemberDiscovery;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.certificate.Certificates;
import io.understudy.local.certificate.ServerTls;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.mirror.MirrorProcess;
import io.understudy.mirror.etcd.EtcdSinkOptions;
import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.lease.LeaseMode;
import io.understudy.mirror.pipeline.MirrorReport;
import io.understudy.mirror.pipeline.MirrorState;
import io.understudy.mirror.scope.MirrorScope;
import io.understudy.mirror.scope.ReservedKeys;
import io.understudy.mirror.settings.MirrorSettings;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Two clusters with mirror {@code dr} of {@code /app/} from the first to the second, or several ones, and their commands. */
final class TwoSites implements AutoCloseable {

    /** A mirror of the keys with a prefix. */
    record Mirrored(String name, String prefix) {
        MirrorScope scope() {
            return MirrorScope.prefix(prefix);
        }
    }

    static final Mirrored DR = new Mirrored("dr", "/app/");
    static final TakeOverOptions OPTIONS =
            TakeOverOptions.DEFAULTS.acceptingSilentWatchers().within(Duration.ofSeconds(30), Duration.ofSeconds(20));
    static final Credentials MIRROR = new Credentials("mirror", "secret");
    private static final Credentials ROOT = new Credentials("root", "root");
    private static final Credentials APP = new Credentials("app", "app");

    private static final int KEYS_PER_TXN = 100;
    private static final Duration LEASE_TTL = Duration.ofHours(1);
    private static final String VALUE = "x".repeat(100);

    private final List<AutoCloseable> open = new ArrayList<>();
    private final boolean hasAuth;
    /** Null for plain text. */
    private final Certificates.@Nullable Pair tls;

    final LocalEtcd source;
    final LocalEtcd target;
    /** Of each side, as a user that may do anything. */
    private final List<TakeOverCalls> calls;

    /** @param hasAuth whether authentication is enabled at first */
    TwoSites(Path folder, boolean hasAuth) {
        this(folder, hasAuth, false, false);
    }

    /**
     * @param hasTls whether the clusters and all of their clients use TLS, with one certificate
     * @param hasFsync whether members flush their writes to disk
     */
    TwoSites(Path folder, boolean hasAuth, boolean hasTls, boolean hasFsync) {
        this(folder, hasAuth, hasTls, hasFsync, EtcdBinaries.find(), EtcdBinaries.find());
    }

    /** Authentication is enabled. */
    TwoSites(Path folder, EtcdBinaries ofSource, EtcdBinaries ofTarget) {
        this(folder, true, false, false, ofSource, ofTarget);
    }

    private TwoSites(
            Path folder,
            boolean hasAuth,
            boolean hasTls,
            boolean hasFsync,
            EtcdBinaries ofSource,
            EtcdBinaries ofTarget) {
        this.hasAuth = hasAuth;
        this.tls = hasTls ? certificate(folder) : null;
        source = cluster("source", folder, hasFsync, ofSource);
        target = cluster("target", folder, hasFsync, ofTarget);
        calls = List.of(administrator(source), administrator(target));
    }

    private static Certificates.Pair certificate(Path folder) {
        try {
            return new Certificates(folder).make("cluster", "EC");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The certificate and its key; null for plain text. */
    @Nullable TlsFiles tls() {
        return tls == null ? null : new TlsFiles(tls.certificate(), tls.certificate(), tls.key());
    }

    private @Nullable ServerTls serverTls() {
        try {
            return tls == null ? null : tls.mutual();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private LocalEtcd cluster(String name, Path folder, boolean hasFsync, EtcdBinaries programs) {
        LocalEtcd cluster = opened(LocalEtcd.builder()
                .name(name)
                .binaries(programs)
                .fsync(hasFsync)
                .tls(serverTls())
                .dataDirectory(folder.resolve(name))
                .build());
        cluster.start();
        if (hasAuth) {
            cluster.enableAuthentication(ROOT.password());
            for (Credentials user : List.of(MIRROR, APP)) {
                asRoot(cluster, "user", "add", user.user() + ":" + user.password());
                asRoot(cluster, "role", "add", user.user());
                asRoot(cluster, "user", "grant-role", user.user(), user.user());
            }
            asRoot(cluster, "role", "grant-permission", MIRROR.user(), "readwrite", "", "--from-key");
            asRoot(cluster, "role", "grant-permission", APP.user(), "readwrite", "/", "0");
        }
        return cluster;
    }

    static String asRoot(LocalEtcd cluster, String... command) {
        List<String> line = new ArrayList<>(List.of("--user=root:root"));
        line.addAll(List.of(command));
        return cluster.etcdctl(line.toArray(String[]::new));
    }

    <C extends AutoCloseable> C opened(C resource) {
        open.add(resource);
        return resource;
    }

    /** Puts keys at the source, the first ones each with a lease. */
    void fill(int keys, int leases) {
        TakeOverCalls writer = client(source).with(Mirrors.PATIENCE);
        List<Long> granted = new ArrayList<>();
        for (int i = 0; i < leases; i++) {
            granted.add(writer.grantLease(LEASE_TTL));
        }
        for (int first = 0; first < keys; first += KEYS_PER_TXN) {
            TxnRequest.Builder txn = TxnRequest.newBuilder();
            for (int i = first; i < first + KEYS_PER_TXN; i++) {
                txn.addSuccess(RequestOp.newBuilder()
                        .setRequestPut(PutRequest.newBuilder()
                                .setKey(ByteString.copyFromUtf8("/app/filled/%07d".formatted(i)))
                                .setValue(ByteString.copyFromUtf8(VALUE))
                                .setLease(i < leases ? granted.get(i) : 0)));
            }
            var unused = writer.txn("keys", txn.build());
        }
    }

    MirrorProcess startMirror() {
        return startMirrors(DR);
    }

    /** One process with all of them. */
    MirrorProcess startMirrors(Mirrored... mirrors) {
        return opened(Mirrors.start(Stream.of(mirrors)
                .map(each -> mirror(
                        each, source.clientUrls().get(0), target.clientUrls().get(0), tls()))
                .toArray(MirrorSettings.Mirror[]::new)));
    }

    /** The mirror with these endpoints alone. */
    static MirrorSettings.Mirror mirror(URI source, URI target, @Nullable TlsFiles tls) {
        return mirror(DR, source, target, tls);
    }

    private static MirrorSettings.Mirror mirror(Mirrored mirrored, URI source, URI target, @Nullable TlsFiles tls) {
        return new MirrorSettings.Mirror(
                mirrored.name(),
                MirrorSettings.Source.Etcd.of(settings(source, tls)),
                mirrored.scope(),
                MirrorSettings.Target.Etcd.of(
                        settings(target, tls),
                        EtcdSinkOptions.DEFAULTS.with(LeaseMode.TTL).withMaxPrunePercent(100)));
    }

    private static EtcdSettings settings(URI endpoint, @Nullable TlsFiles tls) {
        EtcdSettings settings = EtcdSettings.of(endpoint)
                .withDiscovery(MemberDiscovery.CONFIGURED)
                .withLogin(MIRROR);
        return tls == null ? settings : settings.withTls(tls);
    }

    TakeOver commands() {
        return commands(DR);
    }

    TakeOver commands(Mirrored mirrored) {
        return commands(
                mirror(mirrored, source.clientUrls().get(0), target.clientUrls().get(0), tls()),
                OPTIONS.patience(),
                hasAuth);
    }

    /** Commands that reach the clusters there. */
    static TakeOver commands(URI source, URI target, @Nullable TlsFiles tls, Duration patience, boolean hasAuth) {
        return commands(mirror(source, target, tls), patience, hasAuth);
    }

    private static TakeOver commands(MirrorSettings.Mirror mirror, Duration patience, boolean hasAuth) {
        Credentials user = hasAuth ? ROOT : null;
        return new TakeOver(mirror, user, user, patience);
    }

    boolean hasAuth() {
        return hasAuth;
    }

    /** A client with the permissions of applications, which waits for a second at most. */
    TakeOverCalls client(LocalEtcd cluster) {
        return connected(cluster, hasAuth ? APP : null, Duration.ZERO);
    }

    private TakeOverCalls administrator(LocalEtcd cluster) {
        return connected(cluster, hasAuth ? ROOT : MIRROR, OPTIONS.patience());
    }

    private TakeOverCalls connected(LocalEtcd cluster, @Nullable Credentials user, Duration patience) {
        TlsFiles files = tls();
        EtcdSettings plain = files == null
                ? Mirrors.impatient(cluster)
                : Mirrors.impatient(cluster).withTls(files);
        return new PatientCalls(
                opened(EtcdCluster.connect(user == null ? plain : plain.withLogin(user), new SimpleMeterRegistry())),
                null,
                patience);
    }

    /** Of a side, as a user that may do anything. */
    TakeOverCalls administrator(int side) {
        return calls.get(side);
    }

    /** All mirrored keys, with values and whether they have leases. */
    private Map<String, String> contents(Mirrored mirrored, int side) {
        Map<String, String> contents = new LinkedHashMap<>();
        KeyRange range = mirrored.scope().sourceRanges().get(0);
        ByteString next = range.etcdKey();
        while (next != null) {
            var page = calls.get(side)
                    .range(RangeRequest.newBuilder()
                            .setKey(next)
                            .setRangeEnd(range.etcdRangeEnd())
                            .setLimit(1_000)
                            .build());
            page.getKvsList().forEach(each -> contents.put(each.getKey().toStringUtf8(), shown(each)));
            next = page.getMore()
                    ? KeyRange.single(page.getKvs(page.getKvsCount() - 1).getKey())
                            .etcdRangeEnd()
                    : null;
        }
        return contents;
    }

    private static String shown(KeyValue found) {
        return found.getValue().toStringUtf8() + (found.getLease() == 0 ? "" : " with a lease");
    }

    /** Which side its record names, of the higher epoch: 0 for the source. */
    int primary() {
        return primary(DR);
    }

    int primary(Mirrored mirrored) {
        Records.Found first = records(mirrored, 0).read();
        Records.Found second = records(mirrored, 1).read();
        return second.isPrimary() && (!first.isPrimary() || second.epoch() > first.epoch()) ? 1 : 0;
    }

    /** Of a side: 0 for the source. */
    Records records(int side) {
        return records(DR, side);
    }

    Records records(Mirrored mirrored, int side) {
        return new Records(calls.get(side), mirrored.name());
    }

    /** The locks of commands that were killed expire. */
    void expireLocks() {
        for (TakeOverCalls each : calls) {
            each.get(ReservedKeys.of("dr", "operation")).ifPresent(lock -> each.revokeLease(lock.getLease()));
        }
    }

    /** The mirror runs from there and has all of it. */
    static void awaitSynced(MirrorProcess mirror, LocalEtcd from) {
        awaitSynced(mirror, DR, from);
    }

    static void awaitSynced(MirrorProcess mirror, Mirrored mirrored, LocalEtcd from) {
        await().atMost(Mirrors.PATIENCE).pollInterval(Duration.ofMillis(20)).untilAsserted(() -> {
            MirrorReport report = report(mirror, mirrored);
            assertThat(isSynced(report, from.clientUrls().get(0)))
                    .as(report.toString())
                    .isTrue();
        });
    }

    static MirrorReport report(MirrorProcess mirror, Mirrored mirrored) {
        return mirror.reports().stream()
                .filter(each -> each.mirror().equals(mirrored.name()))
                .findFirst()
                .orElseThrow();
    }

    static boolean isSynced(MirrorReport report, URI from) {
        return report.state() == MirrorState.SYNCED && report.source().contains(from.toString());
    }

    /** Both sides are equal. */
    void assertEqual() {
        assertEqual(DR);
    }

    void assertEqual(Mirrored mirrored) {
        await().atMost(Mirrors.PATIENCE)
                .untilAsserted(() -> assertThat(contents(mirrored, 1)).isEqualTo(contents(mirrored, 0)));
    }

    @Override
    public void close() {
        for (int i = open.size() - 1; i >= 0; i--) {
            try {
                open.get(i).close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
