package io.understudy.cli;

import io.understudy.config.Problem;
import io.understudy.tls.TlsFileException;
import io.understudy.tls.TlsFiles;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Finds what keeps a process with a valid configuration from starting: its TLS files and listen addresses. */
final class StartChecks {

    private final Path file;
    private final Set<Problem> problems = new LinkedHashSet<>();
    private final Set<String> notes = new LinkedHashSet<>();

    StartChecks(Path file) {
        this.file = file;
    }

    List<Problem> problems() {
        return List.copyOf(problems);
    }

    /** Returns what could not be verified here. */
    List<String> notes() {
        return List.copyOf(notes);
    }

    void note(String text) {
        notes.add(text);
    }

    /** Binds an address. One in use is no problem: a running process may have the same configuration. */
    void listen(String key, InetSocketAddress address) {
        String at = "cannot listen on " + address.getHostString() + ":" + address.getPort() + ": ";
        if (address.isUnresolved()) {
            problem(key, at + "unknown host");
            return;
        }
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(address);
        } catch (IOException e) {
            String why = String.valueOf(e.getMessage());
            if (why.startsWith("Address already in use")) {
                notes.add(key + ": " + address.getHostString() + ":" + address.getPort()
                        + " is in use, by this process if it runs");
            } else {
                problem(key, at + why);
            }
        }
    }

    /** Reads TLS files. Authorities and certificate separately, so that faults of both are found. */
    void tls(String group, @Nullable TlsFiles files) {
        if (files == null) {
            return;
        }
        if (files.trusted() != null && isVerifiable(group, files.trusted())) {
            read(group, new TlsFiles(files.trusted(), null, null)::requireReadable);
        }
        if (hasVerifiableCertificate(group, files)) {
            read(group, new TlsFiles(null, files.certificate(), files.key())::requireReadable);
        }
    }

    /** Reads the files of a gateway's connections to etcd. Calls of clients are forwarded without a common name. */
    void source(String group, @Nullable TlsFiles own, @Nullable TlsFiles clients) {
        tls(group + ".tls", own);
        tls(group + ".clients.tls", clients);
        TlsFiles forwarding = clients == null ? own : clients;
        String key = group + (clients == null ? ".tls" : ".clients.tls");
        if (forwarding != null && hasVerifiableCertificate(key, forwarding)) {
            read(key, new TlsFiles(null, forwarding.certificate(), forwarding.key())::requireNameless);
        }
    }

    /** Looks for another file. */
    void file(String key, @Nullable Path path) {
        if (path != null && isVerifiable(key, path) && !Files.isReadable(path)) {
            problem(key, path + ": cannot be read");
        }
    }

    /** Whether a file can be read here: those of systemd are readable by a running unit only. */
    boolean isVerifiable(String key, Path path) {
        boolean isOfUnit = path.startsWith("/run/credentials") && !Files.isReadable(path);
        if (isOfUnit) {
            notes.add(key + ": " + path + " not verified: only the unit can read it, while it runs");
        }
        return !isOfUnit;
    }

    private boolean hasVerifiableCertificate(String group, TlsFiles files) {
        return files.certificate() != null
                && files.key() != null
                && isVerifiable(group, files.certificate())
                && isVerifiable(group, files.key());
    }

    private void read(String group, Runnable reading) {
        try {
            reading.run();
        } catch (TlsFileException e) {
            problem(group, String.valueOf(e.getMessage()));
        }
    }

    private void problem(String key, String message) {
        problems.add(new Problem(file.toString(), key, message));
    }
}
