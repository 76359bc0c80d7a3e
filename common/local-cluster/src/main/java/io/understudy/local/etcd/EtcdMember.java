package io.understudy.local.etcd;

import io.understudy.local.fault.FaultProxy;
import io.understudy.local.process.Folders;
import io.understudy.local.process.RunningServer;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** One member of a {@link LocalEtcd}. Safe for use by several threads, one operation at a time. */
public final class EtcdMember implements RunningServer {

    private final String name;
    private final MemberAddresses addresses;
    private final @Nullable MemberProxies proxies;
    private final Path folder;
    private final MemberStarter starter;
    private final EtcdApi api;
    private volatile boolean learner;
    private volatile List<String> arguments = List.of();
    private volatile @Nullable ServerProcess process;
    private volatile @Nullable Long id;

    EtcdMember(
            String name,
            MemberAddresses addresses,
            @Nullable MemberProxies proxies,
            Path folder,
            boolean learner,
            MemberStarter starter,
            EtcdApi api) {
        this.name = name;
        this.addresses = addresses;
        this.proxies = proxies;
        this.folder = folder;
        this.learner = learner;
        this.starter = starter;
        this.api = api;
    }

    public String name() {
        return name;
    }

    /** Whether this object added it as a learner and has not promoted it. */
    public boolean isLearner() {
        return learner;
    }

    /**
     * Member ID, which etcd prints in hexadecimal. Changes after {@link #wipe}.
     *
     * @throws IllegalStateException it has not served yet
     */
    public long id() {
        Long known = id;
        if (known == null) {
            throw new IllegalStateException("member " + name + " has no ID: it has not started yet");
        }
        return known;
    }

    /** Advertised client URL: that of its proxy, if the cluster is behind proxies. */
    public URI clientUrl() {
        return addresses.advertisedClient();
    }

    /** Advertised peer URL: that of its proxy, if the cluster is behind proxies. */
    public URI peerUrl() {
        return addresses.advertisedPeer();
    }

    /** Client URL on which the member itself listens. */
    public URI directClientUrl() {
        return addresses.client();
    }

    /**
     * Status of this member, read past any proxy.
     *
     * @throws EtcdRequestException it doesn't answer within two seconds
     */
    public MemberStatus status() {
        return EtcdApi.await(api.status(addresses.client()));
    }

    /** Sets additional arguments for its next starts, replacing those set before. */
    public void arguments(String... more) {
        arguments = List.of(more);
    }

    /**
     * Starts it with the data it has and waits until it serves. A wiped member rejoins: it is removed from the cluster
     * and added again, which needs a quorum of the others.
     *
     * @throws IllegalStateException it runs, ended at once, or does not serve in time; the message has the end of its
     *     log
     */
    @Override
    public void start() {
        starter.start(this);
    }

    /** Starts it like {@link #start} without waiting until it serves, which requires a quorum. */
    public void launch() {
        starter.launch(this);
    }

    /**
     * Starts it without data as a member that the cluster expects. Does not wait until it serves.
     *
     * @param initialCluster all members and itself, in the form of etcd's command line
     */
    public void join(String initialCluster) {
        wipe();
        starter.join(this, initialCluster);
    }

    /** Kills it and deletes its data. The next {@link #start} makes it rejoin, with another id. */
    public void wipe() {
        if (process != null) {
            kill();
        }
        Folders.delete(data());
        id = null;
    }

    public boolean isAlive() {
        ServerProcess known = process;
        return known != null && known.isAlive();
    }

    public boolean isPaused() {
        ServerProcess known = process;
        return known != null && known.isPaused();
    }

    /** Its output, over all its runs. */
    public ServerLog log() {
        return new ServerLog(folder.resolve("etcd.log"));
    }

    /**
     * The proxy between clients and this member.
     *
     * @throws IllegalStateException the cluster is not behind proxies
     */
    public FaultProxy clientProxy() {
        return proxies().client();
    }

    /**
     * The proxy between the other members and this one; {@link FaultProxy#from} takes their names.
     *
     * @throws IllegalStateException the cluster is not behind proxies
     */
    public FaultProxy peerProxy() {
        return proxies().peer();
    }

    private MemberProxies proxies() {
        MemberProxies known = proxies;
        if (known == null) {
            throw new IllegalStateException("member " + name + " is not behind proxies");
        }
        return known;
    }

    @Override
    public ServerProcess process() {
        ServerProcess known = process;
        if (known == null) {
            throw new IllegalStateException("member " + name + " was never started");
        }
        return known;
    }

    MemberAddresses addresses() {
        return addresses;
    }

    Path folder() {
        return folder;
    }

    Path data() {
        return folder.resolve("data");
    }

    boolean hasData() {
        return Files.isDirectory(data().resolve("member"));
    }

    List<String> arguments() {
        return arguments;
    }

    OptionalLong processId() {
        ServerProcess known = process;
        return known == null ? OptionalLong.empty() : known.pid();
    }

    void healProxies() {
        if (proxies != null) {
            proxies.heal();
        }
    }

    void closeProxies() {
        if (proxies != null) {
            proxies.close();
        }
    }

    void promoted() {
        learner = false;
    }

    void serves(MemberStatus status) {
        id = status.memberId();
    }

    void runsIn(ServerProcess server) {
        process = server;
    }

    /** Whether it can serve requests. */
    boolean answers() {
        return isAlive() && !isPaused();
    }

    @Override
    public String toString() {
        return name;
    }
}
