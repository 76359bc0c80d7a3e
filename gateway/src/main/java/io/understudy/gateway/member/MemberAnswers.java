package io.understudy.gateway.member;

import io.etcd.jetcd.api.Member;
import io.etcd.jetcd.api.MemberListResponse;
import io.etcd.jetcd.api.ResponseHeader;
import io.etcd.jetcd.api.StatusResponse;
import io.understudy.etcd.EtcdError;
import io.understudy.etcd.EtcdErrors;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.StorageStatus;
import io.understudy.gateway.api.ApiException;
import io.understudy.gateway.api.ResponseHeaders;
import io.understudy.gateway.replica.ReplicaState;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Answers {@code Maintenance.Status} and {@code Cluster.MemberList}. Thread-safe, never blocks. */
public final class MemberAnswers {

    private final String name;
    private final String build;
    private final Supplier<EtcdVersion> version;
    private final MemberSettings settings;
    private final Supplier<@Nullable ReplicaState> replica;
    private final Supplier<@Nullable ClusterId> cluster;
    private final Supplier<@Nullable MemberId> leader;
    private final LongSupplier revision;
    private final Supplier<@Nullable StatusResponse> source;
    private final ResponseHeaders headers;
    private final Function<String, MemberId> ids;

    /**
     * Reads the suppliers for each answer.
     *
     * @param name of this gateway
     * @param build version of this build
     * @param version of the served etcd API; {@link EtcdVersion#UNKNOWN} until the source reported it
     * @param cluster the source's, null while unknown
     * @param leader the source's, null if there is none or it is unknown
     * @param revision the greatest reported by the source, 0 before the first
     * @param source status of one of its members, null if none is known
     * @param ids of gateways, by name
     */
    public MemberAnswers(
            String name,
            String build,
            Supplier<EtcdVersion> version,
            MemberSettings settings,
            Supplier<@Nullable ReplicaState> replica,
            Supplier<@Nullable ClusterId> cluster,
            Supplier<@Nullable MemberId> leader,
            LongSupplier revision,
            Supplier<@Nullable StatusResponse> source,
            ResponseHeaders headers,
            Function<String, MemberId> ids) {
        this.name = name;
        this.build = build;
        this.version = version;
        this.settings = settings;
        this.replica = replica;
        this.cluster = cluster;
        this.leader = leader;
        this.revision = revision;
        this.source = source;
        this.headers = headers;
        this.ids = ids;
    }

    /**
     * Returns the status of a learner, with version, database and alarms of the source. The database is the replica
     * while no member of the source reports its own.
     *
     * @param known the greatest revision that the client has seen
     * @throws ApiException while the source is unknown
     */
    public StatusResponse status(long known) throws ApiException {
        EtcdVersion served = version.get();
        if (served.equals(EtcdVersion.UNKNOWN)) {
            throw ApiException.notReady();
        }
        ReplicaState state = replica.get();
        ResponseHeader header = header(state, known);
        if (header.getRevision() == 0) {
            // Clients such as compactors use this revision.
            throw ApiException.notReady();
        }
        long bytes = state == null ? 0 : state.bytes();
        StatusResponse.Builder status = StatusResponse.newBuilder()
                .setHeader(header)
                .setVersion(served.ofGateway().toString())
                .setDbSize(bytes)
                .setDbSizeInUse(bytes)
                .setRaftTerm(header.getRaftTerm())
                .setIsLearner(true);
        MemberId led = leader.get();
        if (led == null) {
            status.addErrors(ApiException.noLeader().text());
        } else {
            status.setLeader(led.value());
        }
        StatusResponse reported = source.get();
        if (reported != null) {
            // Unknown fields are those since etcd 3.6: storageVersion, dbSizeQuota, downgradeInfo.
            status.setDbSize(reported.getDbSize())
                    .setDbSizeInUse(reported.getDbSizeInUse())
                    .setUnknownFields(reported.getUnknownFields());
            reported.getErrorsList().stream()
                    .filter(error -> EtcdErrors.error(error) != EtcdError.NO_LEADER)
                    .forEach(status::addErrors);
        }
        return status.build();
    }

    /** Fields of {@code /version}: etcd's, without suffix, and this build's; none until the source is known. */
    public Map<String, String> versions() {
        EtcdVersion served = version.get();
        if (served.equals(EtcdVersion.UNKNOWN)) {
            return Map.of();
        }
        EtcdVersion reported = served.ofGateway();
        StatusResponse known = source.get();
        StorageStatus storage = known == null ? null : StorageStatus.of(known);
        Map<String, String> versions = new LinkedHashMap<>();
        versions.put("etcdserver", reported.numbers());
        versions.put(
                "etcdcluster",
                storage == null || storage.downgradeTo().isEmpty() ? reported.ofCluster() : storage.downgradeTo());
        if (storage != null && served.reportsStorageVersion()) {
            versions.put("storage", storage.version().isEmpty() ? "unknown" : storage.version());
        }
        versions.put("understudy", build);
        return versions;
    }

    /**
     * Returns the gateways, as voting members: clientv3 drops the endpoints of learners when it reads the list. Unlike
     * etcd's members, they have no peer URLs.
     *
     * @param known as for {@link #status}
     * @throws ApiException while the source is unknown
     */
    public MemberListResponse gateways(long known) throws ApiException {
        MemberListResponse.Builder list = MemberListResponse.newBuilder().setHeader(header(replica.get(), known));
        Map<String, MemberSettings.Gateway> all = new TreeMap<>(settings.others());
        all.put(name, new MemberSettings.Gateway(settings.advertise()));
        all.forEach((gateway, at) -> list.addMembers(Member.newBuilder()
                .setID(ids.apply(gateway).value())
                .setName(gateway)
                .addAllClientURLs(at.urls().stream().map(URI::toString).toList())));
        return list.build();
    }

    private ResponseHeader header(@Nullable ReplicaState state, long known) throws ApiException {
        ClusterId of = state == null ? cluster.get() : state.cluster();
        if (of == null) {
            throw ApiException.notReady();
        }
        long newest = state == null ? revision.getAsLong() : state.revision().value();
        return headers.of(of, new Revision(Math.max(known, newest)));
    }
}
