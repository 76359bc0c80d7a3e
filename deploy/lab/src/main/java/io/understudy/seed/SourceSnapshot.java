package io.understudy.seed;

import io.etcd.jetcd.api.MaintenanceGrpc;
import io.etcd.jetcd.api.SnapshotRequest;
import io.etcd.jetcd.api.SnapshotResponse;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import io.understudy.cluster.snapshot.SnapshotTool.Digest;
import io.understudy.cluster.snapshot.SnapshotTool.SnapshotException;
import io.understudy.etcd.Duty;
import io.understudy.etcd.Endpoint;
import io.understudy.mirror.takeover.PatientCalls;
import io.understudy.mirror.takeover.TakeOverException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * Saves a cluster's database to a file, as {@code etcdctl snapshot save} does. Reads a learner if there is one.
 *
 * @param chunkDeadline how long the next part may take
 */
record SourceSnapshot(PatientCalls source, Duration chunkDeadline) {

    /**
     * Saves one; the file is there only if it is whole. Blocks.
     *
     * @param progress receives the number of bytes so far
     * @return the endpoint it is from
     * @throws TakeOverException no member gave one
     * @throws IOException the file can't be written
     */
    Endpoint save(Path file, LongConsumer progress) throws IOException {
        List<Endpoint> endpoints = source.cluster().endpointsFor(Duty.SNAPSHOT);
        if (endpoints.isEmpty()) {
            throw new TakeOverException("no member of " + source.shown() + " is known");
        }
        Path part = file.resolveSibling(file.getFileName() + ".part");
        try {
            TakeOverException last = null;
            for (Endpoint endpoint : endpoints) {
                try {
                    stream(endpoint, part, progress);
                    requireIntact(endpoint, part);
                    Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
                    return endpoint;
                } catch (TakeOverException e) {
                    last = e;
                }
            }
            throw new TakeOverException("no member of " + source.shown() + " gave a snapshot", last);
        } finally {
            Files.deleteIfExists(part);
        }
    }

    private void stream(Endpoint endpoint, Path file, LongConsumer progress) throws IOException {
        Incoming incoming = new Incoming();
        MaintenanceGrpc.newStub(source.authenticatedElsewhere(source.cluster().channel(endpoint)))
                .snapshot(SnapshotRequest.getDefaultInstance(), incoming);
        long bytes = 0;
        // It has all data of the cluster.
        try (OutputStream out = Channels.newOutputStream(Files.newByteChannel(
                file,
                Set.of(StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.TRUNCATE_EXISTING),
                PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))))) {
            while (true) {
                Event event = incoming.next(chunkDeadline);
                if (event == null) {
                    throw new TakeOverException(endpoint + " sent nothing more of its snapshot for "
                            + chunkDeadline.toSeconds() + " s, after " + bytes + " bytes");
                } else if (event.failure() != null) {
                    throw new TakeOverException(
                            endpoint + " gave no snapshot: " + event.failure().getMessage(), event.failure());
                } else if (event.chunk() == null) {
                    return;
                }
                event.chunk().getBlob().writeTo(out);
                bytes += event.chunk().getBlob().size();
                progress.accept(bytes);
            }
        } finally {
            incoming.cancel();
        }
    }

    private static void requireIntact(Endpoint endpoint, Path file) throws IOException {
        try {
            Digest.require(file);
        } catch (SnapshotException e) {
            throw new TakeOverException("the snapshot of " + endpoint + " is not intact: " + e.getMessage(), e);
        }
    }

    /** A part, a failure, or neither at the end. */
    private record Event(
            @Nullable SnapshotResponse chunk, @Nullable Throwable failure) {}

    /** Requests one part at a time. */
    private static final class Incoming implements ClientResponseObserver<SnapshotRequest, SnapshotResponse> {

        private final BlockingQueue<Event> events = new LinkedBlockingQueue<>();
        private volatile @Nullable ClientCallStreamObserver<SnapshotRequest> call;

        @Override
        public void beforeStart(ClientCallStreamObserver<SnapshotRequest> started) {
            call = started;
            started.disableAutoRequestWithInitial(1);
        }

        @Override
        public void onNext(SnapshotResponse chunk) {
            events.add(new Event(chunk, null));
        }

        @Override
        public void onError(Throwable failure) {
            events.add(new Event(null, failure));
        }

        @Override
        public void onCompleted() {
            events.add(new Event(null, null));
        }

        @Nullable Event next(Duration deadline) {
            try {
                Event event = events.poll(deadline.toNanos(), TimeUnit.NANOSECONDS);
                ClientCallStreamObserver<SnapshotRequest> started = call;
                if (event != null && event.chunk() != null && started != null) {
                    started.request(1);
                }
                return event;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new TakeOverException("interrupted while reading a snapshot", e);
            }
        }

        void cancel() {
            ClientCallStreamObserver<SnapshotRequest> started = call;
            if (started != null) {
                started.cancel("done", null);
            }
        }
    }
}
