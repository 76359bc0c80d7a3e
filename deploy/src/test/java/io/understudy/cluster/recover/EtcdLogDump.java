package io.understudy.cluster.recover;

import io.understudy.local.binary.ProgramVersion;
import io.understudy.local.process.Command;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

/** Reads write-ahead logs by etcd's own package, with the Go toolchain. */
record EtcdLogDump(Path program) {

    private static final Duration DEADLINE = Duration.ofMinutes(5);

    private static final String SOURCE = """
            package main

            import (
            	"fmt"
            	"os"

            	"PACKAGE"
            	"go.uber.org/zap"
            )

            func main() {
            	snapshots, err := wal.ValidSnapshotEntries(zap.NewNop(), os.Args[1])
            	if err != nil {
            		panic(err)
            	}
            	w, err := wal.OpenForRead(zap.NewNop(), os.Args[1], snapshots[len(snapshots)-1])
            	if err != nil {
            		panic(err)
            	}
            	_, _, entries, err := w.ReadAll()
            	if err != nil {
            		panic(err)
            	}
            	for _, e := range entries {
            		fmt.Printf("%x\\n", e.Data)
            	}
            }
            """;

    /** Builds it of the modules of that version. */
    static EtcdLogDump build(ProgramVersion version, Path folder) throws IOException {
        boolean isOld = version.minor() < 6;
        Files.writeString(folder.resolve("go.mod"), "module local/dump\n");
        Files.writeString(
                folder.resolve("main.go"),
                SOURCE.replace("PACKAGE", "go.etcd.io/etcd/server/v3" + (isOld ? "/wal" : "/storage/wal")));
        go(folder, "get", "go.etcd.io/etcd/server/v3@v" + version);
        go(folder, "build", "-o", folder.resolve("dump").toString(), ".");
        return new EtcdLogDump(folder.resolve("dump"));
    }

    private static void go(Path folder, String... arguments) {
        List<String> line = new ArrayList<>(List.of("go"));
        line.addAll(List.of(arguments));
        var unused = Command.of(line)
                .in(folder)
                .with("GOFLAGS", "-mod=mod")
                .with("CGO_ENABLED", "0")
                .run(DEADLINE);
    }

    /** The data of the entries after the last snapshot. */
    List<String> entries(Path dataDirectory) {
        return Command.of(List.of(
                        program.toString(), dataDirectory.resolve("member/wal").toString()))
                .run(DEADLINE)
                .lines()
                .map(line -> new String(HexFormat.of().parseHex(line), StandardCharsets.ISO_8859_1))
                .toList();
    }
}
