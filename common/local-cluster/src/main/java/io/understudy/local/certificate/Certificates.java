package io.understudy.local.certificate;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Certificates for tests, made by the JDK's own tool, as PEM files in one folder. */
public final class Certificates {

    private static final String PASSWORD = "secret";

    private final Path folder;

    public Certificates(Path folder) {
        this.folder = folder;
    }

    /** The files of one name: certificate, which is its own authority, and key. */
    public record Pair(Path certificate, Path key) {}

    /**
     * Makes a self-signed certificate for 127.0.0.1 and localhost, valid for two days.
     *
     * @param name its common name, and what its files are called
     * @param algorithm of the key, as the JDK calls it: {@code EC}, {@code RSA}, {@code Ed25519}
     */
    public Pair make(String name, String algorithm) throws IOException, InterruptedException {
        return make(name, "CN=" + name, algorithm);
    }

    /** Likewise, without a common name. */
    public Pair makeNameless(String file, String algorithm) throws IOException, InterruptedException {
        return make(file, "O=understudy", algorithm);
    }

    private Pair make(String name, String subject, String algorithm) throws IOException, InterruptedException {
        Path store = folder.resolve(name + ".p12");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "own",
                "-keyalg",
                algorithm,
                "-dname",
                subject,
                "-ext",
                "SAN=ip:127.0.0.1,dns:localhost",
                "-ext",
                "BC:c",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                PASSWORD));
        Process tool = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve(name + ".log").toFile())
                .start();
        if (!tool.waitFor(1, TimeUnit.MINUTES) || tool.exitValue() != 0) {
            throw new IOException("keytool failed: " + Files.readString(folder.resolve(name + ".log")));
        }
        try (InputStream in = Files.newInputStream(store)) {
            KeyStore keys = KeyStore.getInstance("PKCS12");
            keys.load(in, PASSWORD.toCharArray());
            Certificate certificate = keys.getCertificate("own");
            Key key = keys.getKey("own", PASSWORD.toCharArray());
            return new Pair(
                    write(name + ".crt", "CERTIFICATE", certificate.getEncoded()),
                    write(name + ".key", "PRIVATE KEY", key.getEncoded()));
        } catch (GeneralSecurityException e) {
            throw new IOException(e);
        }
    }

    /** Writes one PEM block. */
    public Path write(String file, String kind, byte[] der) throws IOException {
        return Files.writeString(
                folder.resolve(file),
                "-----BEGIN " + kind + "-----\n"
                        + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der) + "\n-----END " + kind
                        + "-----\n");
    }
}
