package io.understudy.lab;

import com.google.protobuf.ByteString;
import io.understudy.etcd.Credentials;
import io.understudy.lab.failure.LabException;
import io.understudy.lab.part.ClusterUsers;
import io.understudy.lab.part.ClusterUsers.Grant;
import io.understudy.lab.part.ClusterUsers.User;
import io.understudy.vocabulary.KeyRange;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.SecureRandom;
import java.util.Base64;
import java.util.List;

/**
 * The users of a lab's clusters, with no more permissions than each needs.
 *
 * <p>Passwords are random, created on first use, and kept in files that only their owner can read.
 *
 * <p>Invariant DP12: with authentication, every part of a lab works with least privileges, and only the owner can read
 * the passwords.
 */
final class LabUsers {

    static final String ROOT = "root";

    /** Only the role root may change the member list and read the status of members. */
    static final String SUPERVISOR = "supervisor";

    static final String GATEWAY = "gateway";
    static final String MIRROR = "mirror";

    /** The user of the lab itself, and of its operator. */
    static final String OWN = "lab";

    /** Keys of a mirror in its source: the records of the primary. */
    private static final KeyRange HOMES = KeyRange.prefix(ByteString.copyFromUtf8("\0understudy/home/"));

    private static final int PASSWORD_BYTES = 24;

    private final Path folder;

    /** @param folder folder of all passwords */
    LabUsers(Path folder) {
        this.folder = folder;
        if (!Files.exists(passwordFile(ROOT))) {
            make();
        }
    }

    /** Whether the folder has a lab's passwords. */
    static boolean existIn(Path folder) {
        return Files.exists(file(folder, ROOT));
    }

    /** Returns the users of the source cluster; gateway and mirror read all its keys. */
    ClusterUsers ofCore() {
        return new ClusterUsers(
                login(ROOT),
                List.of(
                        User.root(login(SUPERVISOR)),
                        User.of(login(GATEWAY), new Grant(KeyRange.all(), false)),
                        User.of(login(MIRROR), new Grant(KeyRange.all(), false), new Grant(HOMES, true)),
                        User.of(login(OWN), new Grant(KeyRange.all(), true))));
    }

    /** Returns the users of the target cluster. */
    ClusterUsers ofCopy() {
        return new ClusterUsers(
                login(ROOT),
                List.of(
                        User.of(login(MIRROR), new Grant(KeyRange.all(), true)),
                        User.of(login(OWN), new Grant(KeyRange.all(), false))));
    }

    Path passwordFile(String user) {
        return file(folder, user);
    }

    /** Returns the file for {@code --netrc-file} of {@code curl}. */
    Path netrc() {
        return folder.resolve(OWN + ".netrc");
    }

    Credentials login(String user) {
        Path file = passwordFile(user);
        try {
            return new Credentials(user, Files.readString(file).strip());
        } catch (IOException e) {
            throw new LabException("cannot read the password file " + file + ": " + e.getMessage(), e);
        }
    }

    private static Path file(Path folder, String user) {
        return folder.resolve(user + ".password");
    }

    /** Creates all passwords, root's last, since it marks the set as complete. */
    private void make() {
        try {
            Files.createDirectories(folder);
            Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwx------"));
            for (String user : List.of(SUPERVISOR, GATEWAY, MIRROR, OWN)) {
                write(passwordFile(user), password());
            }
            write(
                    netrc(),
                    "machine 127.0.0.1 login " + OWN + " password " + login(OWN).password());
            write(passwordFile(ROOT), password());
        } catch (IOException e) {
            throw new LabException("cannot write passwords to " + folder + ": " + e.getMessage(), e);
        }
    }

    private static void write(Path file, String secret) throws IOException {
        Files.deleteIfExists(file);
        Files.createFile(file, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------")));
        Files.writeString(file, secret + "\n");
    }

    private static String password() {
        byte[] chance = new byte[PASSWORD_BYTES];
        new SecureRandom().nextBytes(chance);
        return Base64.getUrlEncoder().withoutPadding().encodeToString(chance);
    }
}
