package io.understudy.bench;

import io.understudy.lab.part.EtcdPart;
import io.understudy.lab.part.UnderstudyPart;
import io.understudy.lab.progress.Progress;
import io.understudy.local.binary.EtcdBinaries;
import io.understudy.local.etcd.EtcdMember;
import io.understudy.local.etcd.LocalEtcd;
import io.understudy.local.etcd.LocalEtcdBuilder;
import io.understudy.local.process.Folders;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import io.understudy.local.process.Waiting;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * All servers, each a process of its own: three voters, a learner, grpc-proxy before the voters, and a gateway.
 *
 * <p>The gateway runs as {@code understudy gateway}. With a round trip the voters are far from everything else: the
 * gateway, the learner, grpc-proxy and the clients are near each other.
 */
final class TestBed implements AutoCloseable {

    private static final int VOTERS = 3;

    private final Duration roundTrip;
    private final boolean authenticated;
    private final String password = Access.newPassword();
    private final FreePorts ports = FreePorts.take(2);
    private final LocalEtcd cluster;
    private final EtcdPart etcd;
    private final GrpcProxy proxy;
    private final UnderstudyPart gateway;
    private volatile Access access = Access.OPEN;

    /** @param folder for data and logs */
    TestBed(EtcdBinaries binaries, Path folder, Schedule schedule, Progress progress) {
        this.roundTrip = schedule.roundTrip();
        this.authenticated = schedule.authenticated();
        LocalEtcdBuilder description = LocalEtcd.builder()
                .name("core")
                .voters(VOTERS)
                .learners(1)
                .dataDirectory(folder)
                .binaries(binaries)
                .extraArguments(Access.TOKEN_LIFETIME);
        cluster = (roundTrip.isZero() ? description : description.behindProxies()).build();
        etcd = new EtcdPart("core", List.of("voter-1", "voter-2", "voter-3", "learner"), () -> cluster, progress);
        proxy = new GrpcProxy(binaries, folder.resolve("grpc-proxy"), ports.get(1), clientUrls(cluster.voters()));
        gateway = new UnderstudyPart(
                "gateway",
                Folders.create(folder.resolve("gateway")),
                configuration(),
                "",
                gatewayUrl().resolve("/readyz"),
                progress);
    }

    private String configuration() {
        String endpoints =
                clientUrls(cluster.members()).stream().map(URI::toString).collect(Collectors.joining(", "));
        return """
                # Written by 'understudy bench'.
                name: bench-gateway
                listen: 127.0.0.1:%d
                rest:
                  enabled: false
                source:
                  endpoints: [%s]
                %s""".formatted(ports.get(0), endpoints, authenticated ? login() : "");
    }

    private String login() {
        return """
                  user: %s
                  password: %s
                """.formatted(Access.USER, password);
    }

    /** Starts all, writes the keys, and returns when everything serves. */
    void start() throws InterruptedException {
        etcd.start();
        DataSet.load(cluster.leader().directClientUrl(), learner().directClientUrl());
        if (authenticated) {
            access = Access.enable(cluster, password);
        }
        proxy.start();
        gateway.start();
    }

    /** Keeps the voters as far as that path is to find them. */
    void prepare(ServerPath path) {
        if (!roundTrip.isZero()) {
            keepVoters(path == ServerPath.GATEWAY_NEAR ? Duration.ZERO : roundTrip.dividedBy(2));
        }
    }

    private void keepVoters(Duration eachWay) {
        for (EtcdMember voter : cluster.voters()) {
            voter.clientProxy().delay(eachWay);
            voter.peerProxy().from(learner().name()).delay(eachWay);
            learner().peerProxy().from(voter.name()).delay(eachWay);
        }
    }

    URI url(ServerPath path) {
        return switch (path) {
            case GATEWAY, GATEWAY_NEAR -> gatewayUrl();
            case LEARNER -> learner().directClientUrl();
            case LEADER -> cluster.leader().clientUrl();
            case FOLLOWER -> cluster.followers().get(0).clientUrl();
            case GRPC_PROXY -> proxy.url();
        };
    }

    /** The identity for requests to all of them. */
    Access access() {
        return access;
    }

    /** Where to put, past anything that keeps voters far. */
    URI leader() {
        return cluster.leader().directClientUrl();
    }

    /** The process that a path's clients are connected to. */
    Server serving(ServerPath path) {
        return switch (path) {
            case GATEWAY, GATEWAY_NEAR -> server(ProcessRole.GATEWAY, gatewayProcess());
            case LEARNER -> server(ProcessRole.LEARNER, learner().process());
            case LEADER -> server(ProcessRole.VOTERS, cluster.leader().process());
            case FOLLOWER ->
                server(ProcessRole.VOTERS, cluster.followers().get(0).process());
            case GRPC_PROXY -> server(ProcessRole.GRPC_PROXY, proxy.process());
        };
    }

    /** Bytes that went between voters and their clients so far, both ways; zero if the voters are near. */
    long voterTraffic() {
        return roundTrip.isZero()
                ? 0
                : cluster.voters().stream()
                        .map(EtcdMember::clientProxy)
                        .mapToLong(each -> each.bytesToTarget() + each.bytesFromTarget())
                        .sum();
    }

    private ServerProcess gatewayProcess() {
        return gateway.children().get(0).process().get();
    }

    private URI gatewayUrl() {
        return URI.create("http://127.0.0.1:" + ports.get(0));
    }

    private EtcdMember learner() {
        return cluster.learners().get(0);
    }

    private static List<URI> clientUrls(List<EtcdMember> members) {
        return members.stream().map(EtcdMember::clientUrl).toList();
    }

    /** All processes. */
    List<Server> servers() {
        List<Server> servers = new ArrayList<>();
        servers.add(server(ProcessRole.GATEWAY, gatewayProcess()));
        servers.add(server(ProcessRole.GRPC_PROXY, proxy.process()));
        servers.add(server(ProcessRole.LEARNER, learner().process()));
        cluster.voters().forEach(voter -> servers.add(server(ProcessRole.VOTERS, voter.process())));
        return servers;
    }

    private static Server server(ProcessRole role, ServerProcess process) {
        return new Server(
                role,
                process.pid()
                        .orElseThrow(() -> new BenchException(process.name() + " has exited; end of its log "
                                + process.log().file() + ":\n  "
                                + String.join("\n  ", process.log().tail(12)))));
    }

    /** Stops all, readers before what they read. Idempotent. */
    @Override
    public synchronized void close() {
        gateway.stop();
        proxy.stop();
        etcd.stop();
        cluster.close();
        ports.close();
    }

    /** {@code etcd grpc-proxy}, as a process of its own. */
    private static final class GrpcProxy {

        private static final String NAME = "grpc-proxy";
        private static final Duration PATIENCE = Duration.ofSeconds(30);
        private static final int LOG_LINES = 12;

        private final ServerProcess process;
        private final int port;

        /** @param members client URLs of those that it passes requests on to */
        GrpcProxy(EtcdBinaries binaries, Path folder, int port, List<URI> members) {
            this.port = port;
            String endpoints = members.stream()
                    .map(each -> each.getHost() + ":" + each.getPort())
                    .collect(Collectors.joining(","));
            process = new LocalProcesses()
                    .prepare(new ServerCommand(
                            NAME,
                            binaries.etcd(),
                            List.of(
                                    "grpc-proxy",
                                    "start",
                                    "--endpoints=" + endpoints,
                                    "--listen-addr=127.0.0.1:" + port,
                                    "--advertise-client-url=127.0.0.1:" + port,
                                    "--data-dir=" + folder.resolve("data")),
                            Map.of(),
                            Folders.create(folder),
                            folder.resolve(NAME + ".log")));
        }

        /** Starts it and returns when it listens. */
        void start() {
            process.start();
            Waiting.until(
                    PATIENCE,
                    () -> FreePorts.isFree(port) && process.isAlive() ? Optional.empty() : Optional.of(port),
                    () -> new BenchException(NAME + " not listening after " + PATIENCE.toSeconds() + " s"));
            if (!process.isAlive()) {
                throw new BenchException(NAME + " exited during startup; end of its log "
                        + process.log().file() + ":\n  "
                        + String.join("\n  ", process.log().tail(LOG_LINES)));
            }
        }

        URI url() {
            return URI.create("http://127.0.0.1:" + port);
        }

        ServerProcess process() {
            return process;
        }

        void stop() {
            process.stop();
            process.close();
        }
    }
}
