package io.understudy.mirror.takeover;

import io.understudy.mirror.fixture.Mirrors;
import io.understudy.mirror.home.Move.Way;
import io.understudy.tls.TlsFiles;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;

/** A mirror process or a command between {@link TwoSites}, in a JVM of its own. */
final class TakeOverMain {

    private static final TakeOverOptions OPTIONS =
            TwoSites.OPTIONS.within(Duration.ofSeconds(15), Duration.ofSeconds(5));

    private TakeOverMain() {}

    /** Arguments: mirror, switchover, failback, undo or undo-failback; how to close; both endpoints; with TLS, the certificate and its key. */
    public static void main(String[] arguments) throws Exception {
        Way way = Way.valueOf(arguments[1]);
        URI source = URI.create(arguments[2]);
        URI target = URI.create(arguments[3]);
        TlsFiles tls = arguments.length < 6
                ? null
                : new TlsFiles(Path.of(arguments[4]), Path.of(arguments[4]), Path.of(arguments[5]));
        if (arguments[0].equals("mirror")) {
            throw Mirrors.start(TwoSites.mirror(source, target, tls)).failure().get();
        }
        try (TakeOver commands = TwoSites.commands(source, target, tls, OPTIONS.patience(), way == Way.ROLES)) {
            TakeOverOptions options = OPTIONS.with(way);
            Switchover move = arguments[0].endsWith("failback")
                    ? commands.failback(options, TakeOverMain::print)
                    : commands.switchover(options, TakeOverMain::print);
            print((arguments[0].startsWith("undo") ? move.undo() : move.run()).toString());
        } catch (TakeOverException e) {
            print("refused: " + e.getMessage());
        }
    }

    private static void print(String line) {
        System.out.println(line);
    }
}
