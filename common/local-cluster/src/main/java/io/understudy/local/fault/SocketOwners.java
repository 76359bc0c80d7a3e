package io.understudy.local.fault;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Finds the process that holds a socket, by Linux's {@code /proc}. The table of connections has the socket's inode, the
 * process's open files refer to it. Needs no privilege for processes of the same user.
 */
public final class SocketOwners implements Party {

    private static final List<String> TABLES = List.of("net/tcp", "net/tcp6");
    private static final int LOCAL = 1;
    private static final int REMOTE = 2;
    private static final int INODE = 9;

    private final Path proc;
    private final int port;
    private final Supplier<Map<String, Long>> parties;

    private SocketOwners(Path proc, int port, Supplier<Map<String, Long>> parties) {
        this.proc = proc;
        this.port = port;
        this.parties = parties;
    }

    /** Whether this machine has the required {@code /proc} files. */
    public static boolean areKnownHere() {
        return Files.isReadable(Path.of("/proc/net/tcp"));
    }

    /**
     * Identifies the parties of one proxy.
     *
     * @param port the proxy's, to which the parties connect
     * @param parties the process ids of the parties that run now, by name
     */
    public static SocketOwners of(int port, Supplier<Map<String, Long>> parties) {
        return new SocketOwners(Path.of("/proc"), port, parties);
    }

    @Override
    public Optional<String> at(InetSocketAddress client) {
        return inodeOf(client.getPort()).flatMap(inode -> parties.get().entrySet().stream()
                .filter(candidate -> holds(candidate.getValue(), "socket:[" + inode + "]"))
                .map(Map.Entry::getKey)
                .findFirst());
    }

    /** Inode of the socket that is connected from a local port to the proxy's. */
    private Optional<String> inodeOf(int clientPort) {
        String local = String.format(Locale.ROOT, ":%04X", clientPort);
        String remote = String.format(Locale.ROOT, ":%04X", port);
        for (String table : TABLES) {
            Path file = proc.resolve(table);
            if (!Files.isReadable(file)) {
                continue;
            }
            for (String line : lines(file)) {
                // Splitting each line would delay the proxy's connections: a busy machine has thousands.
                String[] columns = line.contains(local) ? line.strip().split("\\s+", -1) : new String[0];
                if (columns.length > INODE
                        && columns[LOCAL].endsWith(local)
                        && columns[REMOTE].endsWith(remote)
                        && !columns[INODE].equals("0")) {
                    return Optional.of(columns[INODE]);
                }
            }
        }
        return Optional.empty();
    }

    private static List<String> lines(Path table) {
        try {
            return Files.readAllLines(table);
        } catch (IOException e) {
            throw new UncheckedIOException("cannot read " + table, e);
        }
    }

    private boolean holds(long pid, String socket) {
        Path files = proc.resolve(Long.toString(pid)).resolve("fd");
        try (DirectoryStream<Path> open = Files.newDirectoryStream(files)) {
            for (Path file : open) {
                if (isSocket(file, socket)) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException e) {
            // The process has ended meanwhile.
            return false;
        }
    }

    private static boolean isSocket(Path file, String socket) {
        try {
            return Files.readSymbolicLink(file).toString().equals(socket);
        } catch (IOException e) {
            // Closed between the listing and now.
            return false;
        }
    }
}
