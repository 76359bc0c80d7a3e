package io.understudy.lab;

import io.understudy.lab.part.Part;
import io.understudy.lab.part.Part.Child;
import io.understudy.local.process.LocalProcesses;
import io.understudy.local.process.ServerCommand;
import io.understudy.local.process.ServerProcess;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** A part made of one shell that runs a script. */
record ShellPart(String name, ServerProcess process) implements Part {

    static ShellPart of(String name, Path folder, String script) {
        ServerProcess process = new LocalProcesses()
                .prepare(new ServerCommand(
                        name,
                        Path.of("/bin/sh"),
                        List.of("-c", script),
                        Map.of(),
                        folder,
                        folder.resolve(name + ".log")));
        return new ShellPart(name, process);
    }

    @Override
    public void start() {
        process.start();
    }

    @Override
    public List<Child> children() {
        return List.of(new Child(name, () -> process, process::start));
    }

    @Override
    public void stop() {
        process.stop();
    }
}
