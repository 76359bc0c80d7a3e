package io.understudy.local.binary;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The SHA-256, size and name of each program of a version, one a line. */
final class Manifest {

    private static final String FILE = "manifest";
    private static final int BUFFER = 1 << 16;
    private static final Duration DEADLINE = Duration.ofSeconds(30);
    /** Output of {@code sha256sum} before the name. If the name has a line break, a backslash comes first. */
    private static final Pattern DIGEST = Pattern.compile("\\\\?([0-9a-f]{64}) ");

    private Manifest() {}

    /** Records all files now in the folder. */
    static void write(Path folder) throws IOException {
        List<String> lines = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                lines.add(sha256(file) + " " + Files.size(file) + " " + file.getFileName());
            }
        }
        Files.write(folder.resolve(FILE), lines);
    }

    /** @throws NotHereException a file is missing or is not what was recorded */
    static void verify(Path folder) throws NotHereException {
        try {
            for (String line : Files.readAllLines(folder.resolve(FILE))) {
                String[] fields = line.split(" ", 3);
                if (fields.length != 3) {
                    throw new NotHereException("invalid line in " + folder.resolve(FILE) + ": '" + line + "'");
                }
                Path file = folder.resolve(fields[2]);
                if (!Files.exists(file)
                        || !Long.toString(Files.size(file)).equals(fields[1])
                        || !sha256(file).equals(fields[0])) {
                    throw new NotHereException(file + " differs from the installed file");
                }
            }
        } catch (IOException e) {
            throw new NotHereException("cannot verify " + folder + ": " + e, e);
        }
    }

    /**
     * Returns the SHA-256 in lower-case hexadecimal. The program {@code sha256sum} takes a quarter of the time of a
     * newly started JVM.
     */
    static String sha256(Path file) throws IOException {
        try {
            String printed = Command.of(List.of("sha256sum", file.toString())).run(DEADLINE);
            Matcher digest = DIGEST.matcher(printed);
            if (digest.lookingAt()) {
                return digest.group(1);
            }
        } catch (CommandFailedException e) {
            // There is none.
        }
        return sha256InThisJvm(file);
    }

    private static String sha256InThisJvm(Path file) throws IOException {
        MessageDigest digest;
        try {
            digest = MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("SHA-256 is not available", e);
        }
        try (InputStream in = Files.newInputStream(file)) {
            byte[] buffer = new byte[BUFFER];
            for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
                digest.update(buffer, 0, read);
            }
        }
        return HexFormat.of().formatHex(digest.digest()).toLowerCase(Locale.ROOT);
    }
}
