package io.understudy.bench.mirror;

import io.understudy.bench.mirror.MirrorBenchSettings.Far;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.etcd.LocalEtcdBuilder;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;

/** A source of three voters and a learner, and a target of one member, both empty. */
final class Clusters implements AutoCloseable {

    private final LocalEtcd source;
    private final LocalEtcd target;
    private final MirrorBenchSettings settings;
    private final Cuts cuts;

    private Clusters(LocalEtcd source, LocalEtcd target, MirrorBenchSettings settings) {
        this.source = source;
        this.target = target;
        this.settings = settings;
        this.cuts = new Cuts(away(), settings.cut(), eachWay());
    }

    /** Starts both; they serve when this returns. */
    static Clusters start(EtcdBinaries binaries, Path folder, MirrorBenchSettings settings) {
        boolean far = settings.isFar();
        LocalEtcd source = builder("source", binaries, folder, far && settings.far() == Far.SOURCE)
                .voters(3)
                .learners(1)
                .build();
        LocalEtcd target = builder("target", binaries, folder, far && settings.far() == Far.TARGET)
                .voters(1)
                .build();
        Clusters clusters = new Clusters(source, target, settings);
        try {
            source.start();
            target.start();
            if (far) {
                clusters.away().members().forEach(member -> member.clientProxy().delay(clusters.eachWay()));
            }
            return clusters;
        } catch (RuntimeException e) {
            clusters.close();
            throw e;
        }
    }

    /** Starts to cut off the far one at intervals, if that is configured. */
    void beginCuts() {
        cuts.begin();
    }

    private LocalEtcd away() {
        return settings.far() == Far.SOURCE ? source : target;
    }

    private Duration eachWay() {
        return settings.roundTrip().dividedBy(2);
    }

    private static LocalEtcdBuilder builder(String name, EtcdBinaries binaries, Path folder, boolean far) {
        LocalEtcdBuilder description = LocalEtcd.builder()
                .name(name)
                .dataDirectory(folder.resolve(name))
                .binaries(binaries);
        return far ? description.behindProxies() : description;
    }

    /** As relays reach the source. */
    List<URI> sourceUrls() {
        return source.clientUrls();
    }

    /** The same without the learner. */
    List<URI> voterUrls() {
        return source.voters().stream().map(EtcdMember::clientUrl).toList();
    }

    /** As a mirror's configuration names them. */
    String sides() {
        return """
                source:
                  endpoints: %s
                feed:
                  watch: %s
                target:
                  etcd:
                    endpoints: [%s]
                """.formatted(sourceUrls(), settings.watch().name().toLowerCase(Locale.ROOT), targetUrl());
    }

    /** As relays reach the target. */
    URI targetUrl() {
        return target.leader().clientUrl();
    }

    /** Near: where the writers are. */
    URI writersUrl() {
        return source.leader().directClientUrl();
    }

    /** A follower nearby, for clients that only read. */
    URI followerUrl() {
        EtcdMember follower = source.followers().get(0);
        return follower.directClientUrl();
    }

    /** Near: where the target's readers are. */
    URI readersUrl() {
        return target.leader().directClientUrl();
    }

    /** What their members have used since their start. */
    Usage usage() {
        return new Usage(Usage.Side.of(source), Usage.Side.of(target));
    }

    @Override
    public void close() {
        cuts.close();
        target.close();
        source.close();
    }

    /** Cuts a cluster off from its clients again and again, until closed: all connections are reset, new ones too. */
    private static final class Cuts implements AutoCloseable {

        private static final Duration FIRST = Duration.ofSeconds(1);
        private static final Duration EVERY = Duration.ofMinutes(1);

        private final LocalEtcd cluster;
        private final Duration length;
        private final Duration delay;
        private final ScheduledExecutorService timer = Executors.newSingleThreadScheduledExecutor(task -> {
            Thread made = new Thread(task, "cuts");
            made.setDaemon(true);
            return made;
        });

        /**
         * Does nothing until {@link #begin}.
         *
         * @param cluster behind proxies, unless the length is zero
         * @param length of each cut; zero for none
         * @param delay that its connections have otherwise, each way
         */
        Cuts(LocalEtcd cluster, Duration length, Duration delay) {
            this.cluster = cluster;
            this.length = length;
            this.delay = delay;
        }

        /** The first cut comes in a second, the next each a minute later. */
        void begin() {
            if (!length.isZero()) {
                repeat(this::cut, FIRST);
                repeat(this::heal, FIRST.plus(length));
            }
        }

        private void repeat(Runnable change, Duration first) {
            ScheduledFuture<?> unused =
                    timer.scheduleAtFixedRate(change, first.toMillis(), EVERY.toMillis(), TimeUnit.MILLISECONDS);
        }

        private void cut() {
            cluster.members().forEach(member -> member.clientProxy().cut());
        }

        private void heal() {
            cluster.members().forEach(member -> {
                member.clientProxy().heal();
                member.clientProxy().delay(delay);
            });
        }

        @Override
        public void close() {
            timer.shutdownNow();
        }
    }
}
