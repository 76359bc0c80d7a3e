package io.understudy.local.kafka;

import io.understudy.local.fault.FaultProxy;
import io.understudy.local.fault.Party;
import io.understudy.local.process.FreePorts;
import io.understudy.local.process.LocalServers;
import io.understudy.local.process.RunningServer;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerHost;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One real Kafka broker on loopback, its own controller unless it joins another. A restart on the same data directory
 * continues with its data. Safe for use by several threads, one operation at a time.
 */
public final class LocalKafka implements RunningServer, LocalServers {

    private static final Logger LOG = LoggerFactory.getLogger(LocalKafka.class);

    /** Log line of the broker once it takes requests and is registered with the controller. */
    private static final String STARTED = "Kafka Server started";

    private final KafkaFiles files;
    private final ServerHost host;
    private final KafkaProgram program;
    private final FreePorts ports = FreePorts.take(3);
    private final int port;
    private final int controllerPort;
    private final @Nullable FaultProxy proxy;
    private final @Nullable LocalKafka controller;
    private @Nullable ServerProcess process;
    private @Nullable ServerProcess first;

    LocalKafka(
            KafkaFiles files,
            ServerHost host,
            KafkaProgram program,
            @Nullable Integer port,
            @Nullable Integer controllerPort,
            boolean behindProxy,
            @Nullable LocalKafka controller) {
        this.files = files;
        this.host = host;
        this.program = program;
        this.port = port == null ? ports.get(0) : port;
        this.controller = controller;
        int ownControllerPort = controllerPort == null ? ports.get(1) : controllerPort;
        this.controllerPort = controller == null ? ownControllerPort : controller.controllerPort;
        this.proxy = behindProxy
                ? FaultProxy.between(
                        ports.get(2), new InetSocketAddress(InetAddress.getLoopbackAddress(), this.port), Party.ANYONE)
                : null;
    }

    public static LocalKafkaBuilder builder() {
        return new LocalKafkaBuilder();
    }

    /** Value of {@code bootstrap.servers} for clients, through the proxy if there is one. */
    public String bootstrapServers() {
        return "127.0.0.1:" + advertisedPort();
    }

    private int advertisedPort() {
        return proxy == null ? port : proxy.port();
    }

    /**
     * Starts it with the data it has and waits until it takes requests.
     *
     * @throws IllegalStateException it runs, a port is in use, it ended at once, or takes no requests in time; the
     *     message has the reason, with the end of its log
     */
    @Override
    public synchronized void start() {
        if (isAlive()) {
            throw new IllegalStateException("the Kafka broker is already running");
        }
        FreePorts.requireFree(port, "the Kafka broker");
        if (controller == null) {
            FreePorts.requireFree(controllerPort, "the Kafka broker's controller");
        }
        files.write(port, advertisedPort(), controllerPort, controller == null);
        if (!files.isFormatted()) {
            format();
        }
        ServerProcess broker = prepare(program.run(files.settings()));
        process = broker;
        first = first == null ? broker : first;
        startup().awaitLog(STARTED, broker);
        LOG.atInfo().addKeyValue("bootstrap", bootstrapServers()).log("broker started");
    }

    private void format() {
        String cluster = controller == null ? KafkaFiles.newClusterId() : controller.files.clusterId();
        startup().untilItEnds(prepare(program.format(files.settings(), cluster, controller == null)));
        if (!files.isFormatted()) {
            throw startup().failure("failed to format its storage");
        }
    }

    private ServerProcess prepare(List<String> arguments) {
        return host.prepare(
                new ServerCommand("kafka", program.program(), arguments, Map.of(), files.folder(), files.log()));
    }

    private Startup startup() {
        return new Startup("Kafka broker", log());
    }

    /** Ends all faults: heals the proxy, resumes a paused broker, starts an ended one. */
    @Override
    public void mend() {
        if (proxy != null) {
            proxy.heal();
        }
        resume();
        if (!isAlive()) {
            start();
        }
    }

    /** Keeps topics: tests on a shared broker use unique names. False if the broker was restarted. */
    @Override
    public synchronized boolean reset() {
        return isAlive() && process == first;
    }

    @Override
    public Map<String, ServerLog> logs() {
        return Map.of("kafka", log());
    }

    public synchronized boolean isAlive() {
        return process != null && process.isAlive();
    }

    /** Its output, over all its runs. */
    public ServerLog log() {
        return new ServerLog(files.log());
    }

    @Override
    public synchronized ServerProcess process() {
        ServerProcess known = process;
        if (known == null) {
            throw new IllegalStateException("the Kafka broker was never started");
        }
        return known;
    }

    /** Kills it, ends its proxy and frees its ports; the data stays. Idempotent. */
    @Override
    public synchronized void close() {
        if (process != null) {
            process.close();
        }
        if (proxy != null) {
            proxy.close();
        }
        ports.close();
    }

    @Override
    public String toString() {
        return "Kafka broker " + bootstrapServers();
    }
}
