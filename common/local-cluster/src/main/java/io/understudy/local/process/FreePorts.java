package io.understudy.local.process;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Unused ports of the loopback interface, reserved until closed, even while their server is down. They are below the
 * ephemeral range. A lock file for each excludes other processes that use this class.
 */
public final class FreePorts implements AutoCloseable {

    private static final int FIRST = 12_000;
    private static final int LAST = 22_000;
    private static final int TRIES_PER_PORT = 200;

    private final List<Integer> ports = new ArrayList<>();
    private final List<FileChannel> locks = new ArrayList<>();

    private FreePorts() {}

    /**
     * Takes that many ports.
     *
     * @throws IllegalStateException there are not enough
     */
    public static FreePorts take(int count) {
        FreePorts taken = new FreePorts();
        try {
            Path folder = Path.of(
                    System.getProperty("java.io.tmpdir"), "understudy-ports-" + System.getProperty("user.name"));
            Files.createDirectories(folder);
            for (int tries = 0; taken.ports.size() < count; tries++) {
                if (tries > count * TRIES_PER_PORT) {
                    throw new IllegalStateException("no " + count + " free ports between " + FIRST + " and " + LAST);
                }
                taken.tryTake(folder, ThreadLocalRandom.current().nextInt(FIRST, LAST));
            }
            return taken;
        } catch (IOException e) {
            taken.close();
            throw new UncheckedIOException("cannot reserve ports", e);
        } catch (RuntimeException e) {
            taken.close();
            throw e;
        }
    }

    private void tryTake(Path folder, int port) throws IOException {
        FileChannel file = FileChannel.open(
                folder.resolve(Integer.toString(port)), StandardOpenOption.CREATE, StandardOpenOption.WRITE);
        if (Folders.tryLock(file) && isFree(port)) {
            ports.add(port);
            locks.add(file);
        } else {
            file.close();
        }
    }

    /** Whether a server could listen there now. */
    public static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    /**
     * Rejects a port in use before a server starts. Another listener might be taken for it.
     *
     * @param purpose of the port, for the message
     * @throws IllegalStateException it is in use
     */
    public static void requireFree(int port, String purpose) {
        if (!isFree(port)) {
            throw new IllegalStateException("port " + port + " of " + purpose + " is in use by another process");
        }
    }

    /** The port of that index, from 0. */
    public int get(int index) {
        return ports.get(index);
    }

    @Override
    public void close() {
        for (FileChannel lock : locks) {
            try {
                lock.close();
            } catch (IOException e) {
                throw new UncheckedIOException("cannot free a reserved port", e);
            }
        }
        locks.clear();
    }
}
