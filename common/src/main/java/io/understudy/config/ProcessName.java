package io.understudy.config;

import java.io.IOException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.UUID;

/** Names of this process and its host. */
public final class ProcessName {

    /** The name is there even where nothing resolves it. */
    private static final Path OF_THE_KERNEL = Path.of("/proc/sys/kernel/hostname");

    private ProcessName() {}

    /** {@code host/pid/random}: no two are alike. */
    public static String unique() {
        String random = UUID.randomUUID().toString().substring(0, 8);
        return host().orElse("unknown-host") + "/" + ProcessHandle.current().pid() + "/" + random;
    }

    /** The name of this host; empty if unknown. */
    public static Optional<String> host() {
        try {
            return Optional.of(InetAddress.getLocalHost().getHostName());
        } catch (UnknownHostException e) {
            return ofTheKernel();
        }
    }

    private static Optional<String> ofTheKernel() {
        try {
            return Optional.of(Files.readString(OF_THE_KERNEL).strip()).filter(name -> !name.isEmpty());
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
