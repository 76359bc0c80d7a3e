package io.understudy.local.kafka;

import io.understudy.local.certificate.ServerTls;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerHost;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Describes a broker. */
public final class LocalKafkaBuilder {

    private @Nullable Path dataDirectory;
    private @Nullable Integer port;
    private @Nullable Integer controllerPort;
    private boolean behindProxy;
    private @Nullable ServerTls tls;
    private @Nullable KafkaUsers users;
    private ServerHost host = new LocalProcesses();
    private @Nullable KafkaProgram program;
    private @Nullable LocalKafka controller;
    private int node = 1;
    private int replicas = 1;

    LocalKafkaBuilder() {}

    /** Folder for data, settings and log; a broker that was there before continues. Required. */
    public LocalKafkaBuilder dataDirectory(Path value) {
        dataDirectory = value.toAbsolutePath();
        return this;
    }

    /** Port for clients; by default a free one. */
    public LocalKafkaBuilder port(int value) {
        port = value;
        return this;
    }

    /** Port of its controller; by default a free one. */
    public LocalKafkaBuilder controllerPort(int value) {
        controllerPort = value;
        return this;
    }

    /** Puts a {@link io.understudy.local.fault.FaultProxy} before it and advertises only that to clients. */
    public LocalKafkaBuilder behindProxy() {
        behindProxy = true;
        return this;
    }

    /** Makes it use TLS with clients, and request their certificates; by default plain text. */
    public LocalKafkaBuilder tls(@Nullable ServerTls value) {
        tls = value;
        return this;
    }

    /** Requires clients to log in, with only the rights granted to them. By default they don't. Not with TLS. */
    public LocalKafkaBuilder users(KafkaUsers value) {
        users = value;
        return this;
    }

    /** Sets the number of replicas of topics, in as many brokers. Most must be in sync. The default is 1. */
    public LocalKafkaBuilder replicas(int value) {
        replicas = value;
        return this;
    }

    /** Makes it the broker of that number in a running controller's cluster. The controller has number 1. */
    public LocalKafkaBuilder joining(LocalKafka value, int number) {
        controller = value;
        node = number;
        return this;
    }

    /** Host of the broker; by default a process of this machine. */
    public LocalKafkaBuilder host(ServerHost value) {
        host = value;
        return this;
    }

    /** The program to run; by default that of {@link KafkaLibrary#find()}. */
    public LocalKafkaBuilder program(KafkaProgram value) {
        program = value;
        return this;
    }

    /**
     * The broker, not started.
     *
     * @throws IllegalStateException something required is missing
     */
    public LocalKafka build() {
        if (dataDirectory == null) {
            throw new IllegalStateException("a Kafka broker requires a data directory");
        }
        return new LocalKafka(
                new KafkaFiles(dataDirectory, tls, users, node, replicas),
                host,
                program == null ? KafkaLibrary.find() : program,
                port,
                controllerPort,
                behindProxy,
                controller);
    }
}
