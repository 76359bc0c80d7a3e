package io.understudy.cluster.run;

import com.google.protobuf.ByteString;
import io.etcd.jetcd.api.KVGrpc;
import io.etcd.jetcd.api.PutRequest;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.EtcdMembership;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver.UnobservableException;
import io.understudy.cluster.observe.EtcdObserver;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Goal;
import io.understudy.cluster.plan.Plan.Planned;
import io.understudy.cluster.run.RunListener.CatchUpRate;
import io.understudy.etcd.Endpoint;
import io.understudy.etcd.EtcdConnections;
import io.understudy.etcd.EtcdSettings;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.etcd.LocalEtcdBuilder;
import io.understudy.vocabulary.MemberId;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.awaitility.Awaitility;

/** A real cluster with everything that changes it, and a writer beside. */
final class ChangedCluster implements AutoCloseable {

    static final OperationTimeouts PATIENCE = new OperationTimeouts(
            Duration.ofSeconds(2),
            Duration.ofMillis(100),
            Duration.ofSeconds(15),
            Duration.ofSeconds(10),
            Duration.ofSeconds(30),
            Duration.ofSeconds(30));

    private static final int AT_ONCE = 100;

    final LocalEtcd etcd;
    final ProcessMachines machines;
    final List<String> events = new ArrayList<>();
    private final EtcdConnections connections;
    private final EtcdObserver observer;
    private final EtcdMembership membership;

    private ChangedCluster(LocalEtcd etcd, Path folder) {
        this.etcd = etcd;
        this.machines = new ProcessMachines(etcd, folder.resolve("new"));
        EtcdSettings settings = EtcdSettings.of(etcd.clientUrls().toArray(URI[]::new));
        this.connections = EtcdConnections.open(settings);
        SimpleMeterRegistry meters = new SimpleMeterRegistry();
        this.observer = new EtcdObserver(settings, connections, meters);
        this.membership = new EtcdMembership(observer, connections, meters);
    }

    static ChangedCluster start(int voters, Path folder) {
        return start(builder(voters, folder).behindProxies(), folder);
    }

    /** Starts members that any other process may reach, without proxies for faults. */
    static ChangedCluster startWithoutProxies(int voters, Path folder) {
        return start(builder(voters, folder), folder);
    }

    private static LocalEtcdBuilder builder(int voters, Path folder) {
        return LocalEtcd.builder()
                .name("v")
                .voters(voters)
                .dataDirectory(folder.resolve("cluster"))
                .fsync(false);
    }

    private static ChangedCluster start(LocalEtcdBuilder builder, Path folder) {
        LocalEtcd etcd = builder.build();
        etcd.start();
        return new ChangedCluster(etcd, folder);
    }

    /** On a busy machine the first look may take longer than members are given. */
    ClusterFacts facts() {
        return Awaitility.await()
                .ignoreException(UnobservableException.class)
                .until(() -> observer.observe(Duration.ofSeconds(2)), facts -> true);
    }

    MemberId id(String name) {
        return facts().named(name).map(MemberFacts::id).orElseThrow();
    }

    MemberId id(MemberSpec place) {
        return id(place.name());
    }

    Outcome reach(Goal goal) throws InterruptedException {
        return reach(goal, PATIENCE, step -> {});
    }

    Outcome reach(Goal goal, OperationTimeouts patience) throws InterruptedException {
        return reach(goal, patience, step -> {});
    }

    /** @param atBegin called when a step begins, on the thread that takes it */
    Outcome reach(Goal goal, Consumer<Planned> atBegin) throws InterruptedException {
        return reach(goal, PATIENCE, atBegin);
    }

    private Outcome reach(Goal goal, OperationTimeouts patience, Consumer<Planned> atBegin)
            throws InterruptedException {
        return new Runner(observer, new StepWork(membership, machines), patience, new RunListener() {
                    @Override
                    public void begins(Planned step) {
                        events.add(step.action());
                        atBegin.accept(step);
                    }

                    @Override
                    public void ended(Planned step, Duration took) {
                        events.add(step.action() + ": " + took.toMillis() + " ms");
                    }

                    @Override
                    public void catchingUp(CatchUpRate rate) {
                        events.add(rate.toString());
                    }

                    @Override
                    public void notes(String what) {
                        events.add(what);
                    }
                })
                .run(goal);
    }

    /** Puts a key as often, with several requests under way. */
    void put(int times) {
        PutRequest put =
                PutRequest.newBuilder().setKey(ByteString.copyFromUtf8("key")).build();
        Endpoint leader = Endpoint.of(etcd.leader().clientUrl());
        for (int left = times; left > 0; left -= AT_ONCE) {
            CompletableFuture.allOf(Stream.generate(
                                    () -> connections.call(leader, KVGrpc.getPutMethod(), put, PATIENCE.request()))
                            .limit(Math.min(left, AT_ONCE))
                            .toArray(CompletableFuture[]::new))
                    .join();
        }
    }

    WriterBeside writer() {
        return WriterBeside.start(
                etcd.voters().stream().map(EtcdMember::clientUrl).toList());
    }

    @Override
    public void close() {
        connections.close();
        machines.close();
        etcd.close();
    }
}
