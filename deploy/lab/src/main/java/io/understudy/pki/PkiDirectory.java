package io.understudy.pki;

import io.understudy.pki.Authority.Issued;
import io.understudy.tls.Pem;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.GeneralSecurityException;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Base64;
import java.util.EnumSet;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Files of an authority and its certificates, never overwritten. Each has {@code NAME.crt} and {@code NAME.key}, the
 * authority with the name {@code ca}. Keys are readable by their owner only.
 *
 * <p>Invariant DP13: the authority signs certificates of servers and clients but no further authority; keys are
 * readable by their owner only.
 */
public final class PkiDirectory {

    private static final String AUTHORITY = "ca";
    private static final Pattern NAME = Pattern.compile("[A-Za-z0-9][A-Za-z0-9._-]{0,63}");
    private static final Set<PosixFilePermission> SECRET =
            EnumSet.of(PosixFilePermission.OWNER_READ, PosixFilePermission.OWNER_WRITE);
    private static final Set<PosixFilePermission> PUBLIC = EnumSet.of(
            PosixFilePermission.OWNER_READ,
            PosixFilePermission.OWNER_WRITE,
            PosixFilePermission.GROUP_READ,
            PosixFilePermission.OTHERS_READ);

    private final Path folder;

    public PkiDirectory(Path folder) {
        this.folder = folder;
    }

    /** A written certificate and its files. */
    public record Written(Issued issued, Path certificate, Path key) {}

    /**
     * Creates a new authority.
     *
     * @throws UncheckedIOException there is one already, or files are not writable; existing files are kept
     */
    public Written init(String commonName, int pathLength, Duration validity) {
        try {
            Files.createDirectories(folder);
            requireNew(AUTHORITY);
            return write(
                    AUTHORITY,
                    Authority.create(commonName, pathLength, validity).own());
        } catch (IOException e) {
            throw new UncheckedIOException("cannot create an authority in " + folder, e);
        }
    }

    /**
     * Issues a certificate of the authority.
     *
     * @param name name of its files
     * @throws io.understudy.tls.TlsFileException there is no usable authority here
     * @throws IllegalArgumentException the name is invalid, or the authority's
     * @throws UncheckedIOException the name exists already, or files are not writable; existing files are kept
     */
    public Written issue(String name, Subject subject) {
        if (!NAME.matcher(name).matches() || name.equals(AUTHORITY)) {
            throw new IllegalArgumentException("the name is '" + name
                    + "'; allowed: letters, digits, '.', '-' and '_', except '" + AUTHORITY + "'");
        }
        Path certificateFile = folder.resolve(AUTHORITY + ".crt");
        X509Certificate certificate = Pem.certificates(certificateFile).get(0);
        Authority authority = new Authority(
                new Issued(certificate, Pem.key(folder.resolve(AUTHORITY + ".key"), certificateFile, certificate)));
        try {
            requireNew(name);
            return write(name, authority.issue(subject));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot issue a certificate in " + folder, e);
        }
    }

    private void requireNew(String name) throws IOException {
        for (String kind : new String[] {".crt", ".key"}) {
            Path file = folder.resolve(name + kind);
            if (Files.exists(file)) {
                throw new FileAlreadyExistsException(file.toString(), null, "file exists and is not overwritten");
            }
        }
    }

    private Written write(String name, Issued issued) throws IOException {
        Path key = folder.resolve(name + ".key");
        Path certificate = folder.resolve(name + ".crt");
        try {
            create(key, SECRET, "PRIVATE KEY", issued.key().getEncoded());
            try {
                create(certificate, PUBLIC, "CERTIFICATE", issued.certificate().getEncoded());
            } catch (IOException e) {
                // So that it can be issued again.
                Files.delete(key);
                throw e;
            }
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
        return new Written(issued, certificate, key);
    }

    /** Creates a file, with its permissions from the start. */
    private static void create(Path file, Set<PosixFilePermission> permissions, String kind, byte[] der)
            throws IOException {
        String text = "-----BEGIN " + kind + "-----\n"
                + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + kind + "-----\n";
        try (SeekableByteChannel channel = Files.newByteChannel(
                file,
                Set.of(StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE),
                PosixFilePermissions.asFileAttribute(permissions))) {
            ByteBuffer rest = ByteBuffer.wrap(text.getBytes(StandardCharsets.US_ASCII));
            while (rest.hasRemaining()) {
                channel.write(rest);
            }
        }
    }
}
