package io.understudy.local.kafka;

import io.understudy.local.process.Folders;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerLog;
import io.understudy.local.process.ServerProcess;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Kafka's MirrorMaker 2 as a process. A copied topic has the source's name as prefix, {@code core.topic}. It reads
 * committed records, copies each at least once and keeps no transactions. A restart resumes near its last offset. Safe
 * for use by several threads, one operation at a time.
 */
public final class LocalMirrorMaker implements AutoCloseable {

    /** Prefix of the names of copied topics. */
    public static final String PREFIX = "core.";

    private static final Logger LOG = LoggerFactory.getLogger(LocalMirrorMaker.class);
    private static final JarFolder.Place PLACE = new JarFolder.Place(
            "MirrorMaker",
            "understudy.mirrormaker.lib",
            "UNDERSTUDY_MIRRORMAKER_LIB",
            "connect-mirror-",
            "common/mirror-maker/target/lib");
    private static final String HEAP = "256m";
    private static final String STARTED = "Kafka MirrorMaker started";

    private final Path settings;
    private final Path logging;
    private final Startup startup;
    private final ServerProcess process;

    /**
     * Describes it; nothing is started.
     *
     * @param folder for its settings and log; created
     * @param source bootstrap servers
     * @param target bootstrap servers
     * @param topics which of the source's, regular expressions
     * @throws IllegalStateException neither the property {@code understudy.mirrormaker.lib} nor the variable {@code
     *     UNDERSTUDY_MIRRORMAKER_LIB} names the folder of its jars
     */
    public LocalMirrorMaker(Path folder, String source, String target, List<String> topics) {
        Folders.create(folder);
        settings = folder.resolve("mirror-maker.properties");
        logging = folder.resolve(KafkaFiles.LOGGING);
        write(settings, settings(source, target, topics));
        write(logging, KafkaFiles.logging("org.apache.kafka.connect.mirror"));
        JarFolder jars = PLACE.find();
        Path printed = folder.resolve("mirror-maker.log");
        startup = new Startup("MirrorMaker", new ServerLog(printed));
        process = new LocalProcesses()
                .prepare(new ServerCommand(
                        "mirror-maker",
                        jars.program(),
                        jars.run(HEAP, logging, "org.apache.kafka.connect.mirror.MirrorMaker", settings.toString()),
                        Map.of(),
                        folder,
                        printed));
    }

    /**
     * Starts it; it copies soon after this returns.
     *
     * @throws IllegalStateException it runs, or ended at once; the message has the end of its log
     */
    public void start() {
        startup.awaitLog(STARTED, process);
        LOG.atInfo().addKeyValue("settings", settings).log("MirrorMaker started");
    }

    /** Ends it with SIGKILL. */
    public void kill() {
        process.kill();
    }

    /** Kills it for good. Idempotent. */
    @Override
    public void close() {
        process.close();
    }

    private static void write(Path file, String text) {
        try {
            Files.writeString(file, text);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot write the MirrorMaker settings to " + file, e);
        }
    }

    private static String settings(String source, String target, List<String> topics) {
        return """
                clusters=core,dr
                core.bootstrap.servers=%s
                dr.bootstrap.servers=%s
                core->dr.enabled=true
                core->dr.topics=%s
                core.consumer.isolation.level=read_committed
                dr.producer.max.request.size=3145728
                # Single brokers.
                replication.factor=1
                offset-syncs.topic.replication.factor=1
                checkpoints.topic.replication.factor=1
                heartbeats.topic.replication.factor=1
                offset.storage.replication.factor=1
                offset.storage.partitions=1
                status.storage.replication.factor=1
                status.storage.partitions=1
                config.storage.replication.factor=1
                # No groups to follow, and so one direction only.
                emit.heartbeats.enabled=false
                sync.topic.acls.enabled=false
                # New topics and settings are soon noticed.
                refresh.topics.interval.seconds=1
                sync.topic.configs.interval.seconds=1
                # How much is repeated after it was killed.
                dr.offset.flush.interval.ms=1000
                # One that starts need not wait long for one that was killed.
                dr.session.timeout.ms=2000
                dr.heartbeat.interval.ms=500
                dr.scheduled.rebalance.max.delay.ms=0
                # Starts in a third of the time.
                plugin.discovery=service_load
                dr.plugin.discovery=service_load
                """.formatted(source, target, String.join(",", topics).replace("\\", "\\\\"));
    }
}
