package io.understudy.cli;

import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.plan.Plan.Refusal;
import io.understudy.lab.ports.PortHolders;
import io.understudy.lab.ports.PortHolders.PortHolder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Finds URLs that a member of this machine cannot listen at, before it is started. */
final class ListenChecks {

    private static final Duration LOOKUP = Duration.ofSeconds(5);

    private ListenChecks() {}

    /** Returns the URLs to listen at that are not addresses of this machine; none for a member of another one. */
    static List<Refusal> foreignUrls(MachineSettings machine) {
        if (machine.process() == ProcessKind.MANUAL) {
            return List.of();
        }
        String key = "machines." + machine.name() + ".";
        return machine.listenUrls().stream()
                .flatMap(url -> listenFailure(url, 0).stream()
                        .map(why -> new Refusal(
                                "url-of-machine",
                                url + " is not an address of this machine: " + why,
                                "Correct " + key + "*Urls; for a translated address, set " + key + "listen*Urls")))
                .toList();
    }

    /** Returns the ports in use at which a member of this machine does not listen yet; translated ones are not checked. */
    static List<Refusal> usedPorts(MachineSettings machine, MemberFacts listed) {
        Set<Integer> own = Stream.concat(listed.peerUrls().stream(), listed.clientUrls().stream())
                .map(URI::getPort)
                .collect(Collectors.toSet());
        return Stream.of(
                        machine.listenPeerUrls().isPresent()
                                ? List.<URI>of()
                                : machine.member().peerUrls(),
                        machine.listenClientUrls().isPresent()
                                ? List.<URI>of()
                                : machine.member().clientUrls())
                .flatMap(List::stream)
                .filter(url -> machine.process() != ProcessKind.MANUAL && !own.contains(url.getPort()))
                .flatMap(url -> portInUse(url).stream())
                .toList();
    }

    static Optional<Refusal> portInUse(URI url) {
        return listenFailure(url, url.getPort())
                .filter(why -> why.startsWith("Address already in use"))
                .map(why -> new Refusal(
                        "port-free",
                        "port " + url.getPort() + " of " + url + " is in use by "
                                + PortHolders.ofThisMachine()
                                        .of(url.getPort())
                                        .map(PortHolder::toString)
                                        .orElse("a process not visible to this user"),
                        "Stop it"));
    }

    /** Returns why a process of this machine cannot listen at the host of a URL. */
    static Optional<String> listenFailure(URI url, int port) {
        InetSocketAddress address = CompletableFuture.supplyAsync(() -> new InetSocketAddress(url.getHost(), port))
                .completeOnTimeout(
                        InetSocketAddress.createUnresolved(url.getHost(), port),
                        LOOKUP.toMillis(),
                        TimeUnit.MILLISECONDS)
                .join();
        if (address.isUnresolved()) {
            return Optional.of("unknown host");
        }
        try (ServerSocket socket = new ServerSocket()) {
            socket.setReuseAddress(true);
            socket.bind(address);
            return Optional.empty();
        } catch (BindException e) {
            return Optional.of(String.valueOf(e.getMessage()));
        } catch (IOException e) {
            throw new UncheckedIOException("cannot check " + url, e);
        }
    }
}
