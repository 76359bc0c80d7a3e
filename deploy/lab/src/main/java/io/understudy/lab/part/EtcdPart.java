package io.understudy.lab.part;

import io.understudy.etcd.EtcdSettings;
import io.understudy.lab.part.Part.Child;
import io.understudy.lab.progress.Progress;
import io.understudy.lab.progress.Progress.Phase;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.EtcdRequestException;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.tls.TlsFiles;
import io.understudy.vocabulary.DaemonThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** An etcd cluster, shown as a part per member. */
public final class EtcdPart implements Part {

    private static final long LOOK_MILLIS = 100;

    private final String name;
    private final List<String> members;
    private final Supplier<LocalEtcd> description;
    private final @Nullable ClusterUsers authentication;
    private final @Nullable TlsFiles tls;
    private final Progress progress;
    private volatile @Nullable LocalEtcd cluster;
    private volatile List<Child> children = List.of();

    /** Creates a cluster without authentication. */
    public EtcdPart(String name, List<String> members, Supplier<LocalEtcd> description, Progress progress) {
        this(name, members, description, null, null, progress);
    }

    /**
     * @param members the names of the members in the lab, voters first
     * @param description creates the cluster with as many members, without a start
     * @param authentication its users and permissions; null without authentication
     * @param tls TLS files for creating its users; null for plain text
     */
    public EtcdPart(
            String name,
            List<String> members,
            Supplier<LocalEtcd> description,
            @Nullable ClusterUsers authentication,
            @Nullable TlsFiles tls,
            Progress progress) {
        this.name = name;
        this.authentication = authentication;
        this.tls = tls;
        this.members = List.copyOf(members);
        this.description = description;
        this.progress = progress;
        members.forEach(member -> progress.add(member, ""));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void start() {
        LocalEtcd started = description.get();
        cluster = started;
        ScheduledExecutorService observer =
                Executors.newSingleThreadScheduledExecutor(DaemonThreads.named("lab-observe-" + name));
        try {
            members.forEach(member -> progress.change(member, Phase.STARTING, ""));
            Future<?> observation = observer.scheduleWithFixedDelay(
                    new Observation(started.members()), LOOK_MILLIS, LOOK_MILLIS, TimeUnit.MILLISECONDS);
            started.start();
            observation.cancel(false);
            if (authentication != null) {
                EtcdSettings plain =
                        EtcdSettings.of(started.clientUrls().get(0)).withName(name);
                authentication.enable(tls == null ? plain : plain.withTls(tls));
            }
        } finally {
            observer.shutdownNow();
        }
        children = childrenOf(started);
        members.forEach(member -> progress.change(member, Phase.READY, ""));
    }

    private List<Child> childrenOf(LocalEtcd started) {
        List<Child> all = new ArrayList<>();
        for (EtcdMember member : started.members()) {
            all.add(new Child(members.get(all.size()), member::process, member::launch));
        }
        return List.copyOf(all);
    }

    /** Shows each serving member early: the cluster reports only that all serve. */
    private final class Observation implements Runnable {

        private final List<EtcdMember> observed;
        private final boolean[] seen;

        Observation(List<EtcdMember> observed) {
            this.observed = observed;
            this.seen = new boolean[observed.size()];
        }

        @Override
        public void run() {
            for (int index = 0; index < seen.length; index++) {
                EtcdMember member = observed.get(index);
                if (!seen[index] && member.isAlive() && hasLeader(member)) {
                    seen[index] = true;
                    progress.change(members.get(index), Phase.READY, "");
                }
            }
        }

        private static boolean hasLeader(EtcdMember member) {
            try {
                return member.status().leaderId() != 0;
            } catch (EtcdRequestException e) {
                return false;
            }
        }
    }

    @Override
    public List<Child> children() {
        return children;
    }

    /**
     * Stops members one by one, learners first, so that a leader can hand over. If all stopped at once, it would wait
     * seconds for a successor.
     */
    @Override
    public void stop() {
        LocalEtcd started = cluster;
        if (started != null) {
            Stream.concat(started.learners().stream(), started.voters().stream())
                    .filter(EtcdMember::isAlive)
                    .forEach(EtcdMember::stop);
            started.close();
        }
    }
}
