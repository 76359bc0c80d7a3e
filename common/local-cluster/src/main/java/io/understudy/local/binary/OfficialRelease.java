package io.understudy.local.binary;

import io.understudy.local.process.Command;
import io.understudy.local.process.CommandFailedException;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;

/** The release archive of the etcd project for one version, verified by its SHA-256. */
final class OfficialRelease implements Fetched.Source {

    private static final String VERSION = "3.5.30";
    private static final Map<String, String> SHA256_BY_ARCHITECTURE = Map.of(
            "amd64", "a495115162845640be08c6cda069ff961260dbced53207c5a83b1b006ff2ea8e",
            "arm64", "4d19473d2567a58e1dbf556e0813b91d506666e58d23bfd5370660c67639eb5e");

    /** Short, since machines without Internet access are common. */
    private static final Duration ANSWER = Duration.ofSeconds(4);

    private static final Duration DOWNLOAD = Duration.ofMinutes(3);

    private final URI base;
    private final Map<String, String> sha256ByArchitecture;

    OfficialRelease() {
        this(URI.create("https://github.com/etcd-io/etcd/releases/download/"), SHA256_BY_ARCHITECTURE);
    }

    OfficialRelease(URI base, Map<String, String> sha256ByArchitecture) {
        this.base = base;
        this.sha256ByArchitecture = sha256ByArchitecture;
    }

    @Override
    public String describe() {
        return "official release " + VERSION;
    }

    @Override
    public boolean has(WantedVersion wanted) {
        return ProgramVersion.in(VERSION).filter(wanted::accepts).isPresent();
    }

    @Override
    public void fetch(WantedVersion wanted, Path folder, Consumer<String> progress) throws NotHereException {
        String architecture = architecture();
        String expected = sha256ByArchitecture.get(architecture);
        if (expected == null || !System.getProperty("os.name").startsWith("Linux")) {
            throw new NotHereException("no known archive for " + System.getProperty("os.name") + " " + architecture);
        }
        String name = "etcd-v" + VERSION + "-linux-" + architecture;
        URI address = base.resolve("v" + VERSION + "/" + name + ".tar.gz");
        progress.accept("downloading " + address);
        Path archive = folder.resolveSibling("archive.tar.gz");
        try {
            download(address, archive, progress);
            String actual = Manifest.sha256(archive);
            if (!actual.equals(expected)) {
                throw new NotHereException(address + " has SHA-256 " + actual + ", expected " + expected);
            }
            Path unpacked = Files.createDirectory(folder.resolveSibling("unpacked"));
            Command.of(List.of("tar", "-xzf", archive.toString(), "-C", unpacked.toString(), "--no-same-owner"))
                    .run(DOWNLOAD);
            for (String program : List.of("etcd", "etcdctl", "etcdutl")) {
                Files.move(unpacked.resolve(name).resolve(program), folder.resolve(program));
            }
        } catch (IOException | CommandFailedException e) {
            throw new NotHereException(address + ": " + e, e);
        }
    }

    private static void download(URI address, Path archive, Consumer<String> progress)
            throws NotHereException, IOException {
        HttpClient client = HttpClient.newBuilder()
                .connectTimeout(ANSWER)
                .followRedirects(HttpClient.Redirect.NORMAL)
                .build();
        HttpRequest request = HttpRequest.newBuilder(address).timeout(ANSWER).build();
        CompletableFuture<HttpResponse<InputStream>> answer =
                client.sendAsync(request, HttpResponse.BodyHandlers.ofInputStream());
        // The deadline holds for the look-up of the name too, which the client's own deadlines don't cover.
        HttpResponse<InputStream> response = await(answer, ANSWER, address);
        try (InputStream body = response.body()) {
            if (response.statusCode() != 200) {
                throw new NotHereException(address + " returned HTTP status " + response.statusCode());
            }
            progress.accept("downloading " + address);
            await(CompletableFuture.supplyAsync(() -> save(body, archive)), DOWNLOAD, address);
        }
    }

    private static long save(InputStream body, Path archive) {
        try {
            return Files.copy(body, archive);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static <T> T await(CompletableFuture<T> future, Duration deadline, URI address) throws NotHereException {
        try {
            return future.get(deadline.toMillis(), TimeUnit.MILLISECONDS);
        } catch (ExecutionException e) {
            throw new NotHereException(address + " is unreachable: " + e.getCause(), e);
        } catch (TimeoutException e) {
            future.cancel(true);
            throw new NotHereException("no response from " + address + " within " + deadline.toSeconds() + " s", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new NotHereException("interrupted", e);
        }
    }

    private static String architecture() {
        String name = System.getProperty("os.arch");
        return switch (name) {
            case "x86_64", "amd64" -> "amd64";
            case "aarch64", "arm64" -> "arm64";
            default -> name;
        };
    }
}
