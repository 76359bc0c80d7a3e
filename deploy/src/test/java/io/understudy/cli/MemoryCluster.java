package io.understudy.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.understudy.cluster.machine.DataOwner;
import io.understudy.cluster.machine.MachineSettings;
import io.understudy.cluster.machine.MachineSettings.ProcessKind;
import io.understudy.cluster.machine.Machines;
import io.understudy.cluster.machine.MemberSpec;
import io.understudy.cluster.membership.Hashes;
import io.understudy.cluster.membership.Membership;
import io.understudy.cluster.membership.Membership.OutcomeUnknownException;
import io.understudy.cluster.membership.Membership.RefusedException;
import io.understudy.cluster.observe.ClusterFacts;
import io.understudy.cluster.observe.ClusterObserver;
import io.understudy.cluster.observe.MemberAnswer;
import io.understudy.cluster.observe.MemberFacts;
import io.understudy.cluster.observe.MemberFacts.Measurements;
import io.understudy.cluster.observe.MemberFacts.MemberProcess;
import io.understudy.etcd.Alarm;
import io.understudy.etcd.EtcdVersion;
import io.understudy.etcd.Role;
import io.understudy.etcd.StorageStatus;
import io.understudy.vocabulary.ClusterId;
import io.understudy.vocabulary.MemberId;
import io.understudy.vocabulary.Revision;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.LongPredicate;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;

/**
 * A cluster and its machines in memory. Each request and order is an effect, after which a command may be killed; the
 * state stays as etcd and the machines would keep it.
 *
 * <p>Every effect is checked: a quorum stays one, no data is deleted, and no other member is stopped.
 */
final class MemoryCluster implements ClusterObserver, Membership, Machines {

    /** A directory with another server than the configured one. */
    static final Path NEW_PROGRAM = Path.of("/new/etcd");

    static final Instant STARTED = Instant.parse("2026-01-01T00:00:00Z");

    private static final ClusterId CLUSTER = new ClusterId(7);
    private static final long FIRST_ID = 0x8000_0000_0000_0001L;
    private static final long INDEX = 100_000;
    /** Entries that a learner lacks when it starts, and receives between two observations. */
    private static final long BEHIND = 50_000;

    private static final long RECEIVED = 40_000;

    /** As if the process of the command had ended there. */
    static final class KilledError extends Error {}

    /** A member as listed by etcd; it has a name once it has started. */
    private record Listed(String name, Role role, List<URI> peerUrls, List<URI> clientUrls) {}

    /**
     * A data directory.
     *
     * @param first the place of data that existed before the command; empty for others
     */
    private record Data(MemberId owner, String first, long lag, boolean isCorrupt, int storage) {

        Data with(long otherLag, int otherStorage) {
            return new Data(owner, first, otherLag, isCorrupt, otherStorage);
        }

        boolean isWhole() {
            return lag == 0 && !isCorrupt;
        }
    }

    private record Place(
            MemberSpec spec,
            Optional<Data> data,
            List<Data> aside,
            boolean isRunning,
            boolean isSilent,
            EtcdVersion version,
            Instant startedAt) {

        static Place of(MemberSpec spec, EtcdVersion version) {
            return new Place(spec, Optional.empty(), List.of(), false, false, version, STARTED);
        }

        Place with(Optional<Data> other) {
            return new Place(spec, other, aside, isRunning, isSilent, version, startedAt);
        }

        Place setAside() {
            List<Data> all = new ArrayList<>(aside);
            data.ifPresent(all::add);
            return new Place(spec, Optional.empty(), List.copyOf(all), isRunning, isSilent, version, startedAt);
        }

        Place started(EtcdVersion as, Instant at) {
            return new Place(spec, data, aside, true, false, as, at);
        }

        Place stopped() {
            return new Place(spec, data, aside, false, isSilent, version, startedAt);
        }

        Place silent() {
            return new Place(spec, data, aside, isRunning, true, version, startedAt);
        }
    }

    private final Map<Long, Listed> members = new TreeMap<>();
    private final Map<String, Place> places = new TreeMap<>();
    private final Set<Alarm> alarms = new HashSet<>();
    private final Set<Long> defragmented = new TreeSet<>();
    /** Places with a process that a command started. */
    private final Set<String> joined = new TreeSet<>();
    /** Places with a process that a command may stop. */
    private final Set<String> restartable = new HashSet<>();

    private EtcdVersion configured;
    private EtcdVersion target;
    private Optional<MemberId> leader = Optional.empty();
    private boolean lingers;
    private boolean isRolled;
    private boolean isAnyPlace;
    private int declared;
    private List<String> replicas = List.of();
    /** Minor version of a downgrade; 0 for none. */
    private int lowered;

    private long compacted = 1;
    private long nextId = FIRST_ID;
    private int starts;
    /** Effects since the command started. */
    private final List<String> effects = new ArrayList<>();
    /** Numbers of the effects that are requests to etcd. */
    private final Set<Integer> requests = new TreeSet<>();

    private int killAfter = -1;
    private int lostRequest = -1;
    private int lostResponse = -1;

    /** @param machines configured, of which the first so many have voting members */
    MemoryCluster(int machines, int voters, String version, String target) {
        this.configured = EtcdVersion.parse(version);
        this.target = EtcdVersion.parse(target);
        this.declared = voters;
        for (int number = 1; number <= machines; number++) {
            places.put("m" + number, Place.of(spec(number), configured));
        }
        for (int number = 1; number <= voters; number++) {
            begin("m" + number, Role.VOTER);
        }
        settle();
    }

    private MemoryCluster(MemoryCluster other) {
        members.putAll(other.members);
        places.putAll(other.places);
        alarms.addAll(other.alarms);
        defragmented.addAll(other.defragmented);
        joined.addAll(other.joined);
        restartable.addAll(other.restartable);
        configured = other.configured;
        target = other.target;
        leader = other.leader;
        lingers = other.lingers;
        isRolled = other.isRolled;
        isAnyPlace = other.isAnyPlace;
        declared = other.declared;
        replicas = other.replicas;
        lowered = other.lowered;
        compacted = other.compacted;
        nextId = other.nextId;
        starts = other.starts;
    }

    /** The configuration has these {@code shape.readReplicas}. */
    void declareReplicas(String... names) {
        replicas = List.of(names);
    }

    List<String> replicas() {
        return replicas;
    }

    /** The configuration has no {@code shape.voters}. */
    void undeclare() {
        declared = 0;
    }

    /** Returns the declared number of voting members; 0 without a declaration. */
    int declared() {
        return declared;
    }

    /** Returns a copy on which another command runs. */
    MemoryCluster copy() {
        return new MemoryCluster(this);
    }

    private void begin(String name, Role role) {
        MemberId id = new MemberId(nextId++);
        Place place = places.get(name);
        members.put(
                id.value(),
                new Listed(name, role, place.spec().peerUrls(), place.spec().clientUrls()));
        Data data = new Data(id, name, 0, false, storage(configured));
        places.put(name, place.with(Optional.of(data)).started(configured, STARTED));
    }

    private static int storage(EtcdVersion version) {
        return version.minor();
    }

    static MemberSpec spec(int number) {
        return new MemberSpec(
                "m" + number,
                List.of(URI.create("http://10.0.0." + number + ":2380")),
                List.of(URI.create("http://10.0.0." + number + ":2379")));
    }

    void addStandby(String name) {
        begin(name, Role.LEARNER);
    }

    /** The process of the member has ended; its data stay. */
    void end(String name) {
        places.computeIfPresent(name, (key, place) -> place.stopped());
        settle();
    }

    /** The member is removed; its data stay. */
    void remove(String name) {
        members.remove(id(name).value());
        settle();
    }

    /** The process of the member runs without responses. */
    void silence(String name) {
        places.computeIfPresent(name, (key, place) -> place.silent());
        settle();
    }

    /** Processes of removed members run on until they are stopped. */
    void linger() {
        lingers = true;
    }

    void alarm(String kind, String name) {
        alarms.add(new Alarm(kind, id(name)));
    }

    void corrupt(String name) {
        places.computeIfPresent(
                name,
                (key, place) -> place.with(place.data()
                        .map(data -> new Data(data.owner(), data.first(), data.lag(), true, data.storage()))));
    }

    /** The end includes which processes are new. */
    void roll() {
        isRolled = true;
    }

    /** The end does not include on which machine a new member runs. */
    void takeAnyPlace() {
        isAnyPlace = true;
    }

    /** Whether all members of the other are still listed. */
    boolean hasAllOf(MemoryCluster other) {
        return members.keySet().containsAll(other.members.keySet());
    }

    void mayRestart(String... names) {
        restartable.addAll(List.of(names));
    }

    MemberId id(String name) {
        return members.entrySet().stream()
                .filter(each -> each.getValue().name().equals(name))
                .map(each -> new MemberId(each.getKey()))
                .findFirst()
                .orElseThrow();
    }

    /** The command is killed after this effect, counted from 0. */
    void killAfter(int effect) {
        killAfter = effect;
    }

    /** This request is not sent. */
    void loseRequest(int effect) {
        lostRequest = effect;
    }

    /** The response to this request is lost. */
    void loseResponse(int effect) {
        lostResponse = effect;
    }

    List<String> effects() {
        return effects;
    }

    Set<Integer> requests() {
        return requests;
    }

    /** An effect outside of the cluster's state, such as the turn. */
    void effect(String what) {
        effect(what, () -> {});
    }

    private void effect(String what, Runnable change) {
        int number = effects.size();
        effects.add(what);
        boolean hadQuorum = hasQuorum();
        boolean hadData = hasDataOfQuorum();
        Set<String> had = firstData();
        change.run();
        assertThat(hasQuorum() || !hadQuorum)
                .as("quorum of running members after %s", effects)
                .isTrue();
        assertThat(hasDataOfQuorum() || !hadData)
                .as("quorum with its data after %s", effects)
                .isTrue();
        assertThat(firstData()).as("data after %s", effects).containsAll(had);
        if (number == killAfter) {
            throw new KilledError();
        }
    }

    private void request(String what, Runnable change) throws OutcomeUnknownException {
        int number = effects.size();
        requests.add(number);
        if (number == lostRequest) {
            effects.add(what);
            throw new OutcomeUnknownException("not sent", new IllegalStateException("unavailable"));
        }
        effect(what, change);
        if (number == lostResponse) {
            throw new OutcomeUnknownException("no response", new IllegalStateException("unavailable"));
        }
    }

    private boolean isVoter(Listed listed) {
        return listed.role() == Role.VOTER;
    }

    private long voters() {
        return members.values().stream().filter(this::isVoter).count();
    }

    private Optional<Place> placeOf(long id) {
        return places.values().stream()
                .filter(place -> place.data()
                        .map(Data::owner)
                        .filter(new MemberId(id)::equals)
                        .isPresent())
                .findFirst();
    }

    private boolean isConnected(long id) {
        return placeOf(id)
                .filter(place -> place.isRunning() && !place.isSilent())
                .isPresent();
    }

    private boolean isFound(long id) {
        return placeOf(id)
                .filter(place -> Set.copyOf(place.spec().peerUrls())
                        .equals(Set.copyOf(members.get(id).peerUrls())))
                .isPresent();
    }

    private boolean hasVotes() {
        return count(this::isConnected) > voters() / 2;
    }

    private boolean hasQuorum() {
        return count(id -> isConnected(id) && isFound(id)) > voters() / 2;
    }

    private boolean hasDataOfQuorum() {
        return count(id ->
                        placeOf(id).flatMap(Place::data).filter(Data::isWhole).isPresent())
                > voters() / 2;
    }

    private long count(LongPredicate is) {
        return members.entrySet().stream()
                .filter(each -> isVoter(each.getValue()) && is.test(each.getKey()))
                .count();
    }

    private Set<String> firstData() {
        Set<String> found = new TreeSet<>();
        places.values().forEach(place -> {
            place.data().ifPresent(data -> found.add(data.first()));
            place.aside().forEach(data -> found.add(data.first()));
        });
        return found;
    }

    /** What members do by themselves between two observations. */
    private void settle() {
        places.replaceAll((name, place) -> place.isRunning()
                        && !lingers
                        && !place.isSilent()
                        && place.data()
                                .map(data -> !members.containsKey(data.owner().value()))
                                .orElse(true)
                ? place.stopped()
                : place);
        leader = !hasVotes()
                ? Optional.empty()
                : leader.filter(id -> members.containsKey(id.value()) && isConnected(id.value()))
                        .or(() -> members.entrySet().stream()
                                .filter(each -> isVoter(each.getValue()) && isConnected(each.getKey()))
                                .map(each -> new MemberId(each.getKey()))
                                .findFirst());
        if (leader.isEmpty()) {
            return;
        }
        members.replaceAll((id, listed) -> isConnected(id)
                ? new Listed(
                        placeOf(id).orElseThrow().spec().name(),
                        listed.role(),
                        listed.peerUrls(),
                        placeOf(id).orElseThrow().spec().clientUrls())
                : listed);
        List<Integer> versions = members.keySet().stream()
                .filter(this::isConnected)
                .map(id -> storage(placeOf(id).orElseThrow().version()))
                .sorted()
                .toList();
        int storage = lowered > 0 ? lowered : versions.get(0);
        if (versions.size() == members.size() && versions.get(versions.size() - 1) == lowered) {
            lowered = 0;
        }
        places.replaceAll((name, place) -> place.isRunning() && !place.isSilent()
                ? place.with(place.data().map(data -> data.with(data.lag(), storage)))
                : place);
    }

    @Override
    public ClusterFacts observe(Duration patience) {
        settle();
        List<MemberFacts> listed = members.keySet().stream()
                .map(this::facts)
                .sorted(Comparator.comparing((MemberFacts member) -> !member.hasStarted())
                        .thenComparing(MemberFacts::name))
                .toList();
        places.replaceAll((name, place) -> place.isRunning() && leader.isPresent()
                ? place.with(place.data().map(data -> data.with(Math.max(0, data.lag() - RECEIVED), data.storage())))
                : place);
        List<String> raised = alarms.stream()
                .map(alarm -> alarm.kind() + " of " + alarm.member())
                .sorted()
                .toList();
        return new ClusterFacts(CLUSTER, listed, hasVotes(), raised, STARTED.plusSeconds(60));
    }

    private MemberFacts facts(long id) {
        Listed listed = members.get(id);
        Optional<Place> place = placeOf(id).filter(unused -> isConnected(id));
        return new MemberFacts(
                new MemberId(id),
                listed.name(),
                listed.role(),
                listed.peerUrls(),
                listed.clientUrls(),
                place.map(this::answer),
                Measurements.NONE,
                new MemberProcess(place.map(Place::startedAt), Optional.empty(), place.map(unused -> isFound(id))));
    }

    private MemberAnswer answer(Place place) {
        Data data = place.data().orElseThrow();
        return new MemberAnswer(
                place.version(),
                leader,
                2,
                INDEX,
                INDEX - data.lag(),
                new Revision(1000),
                1 << 20,
                1 << 19,
                leader.isPresent(),
                alarms.stream()
                        .map(alarm -> "memberID:"
                                + Long.toUnsignedString(alarm.member().value()) + "  alarm:" + alarm.kind())
                        .toList(),
                new StorageStatus(
                        data.storage() < 6 ? "" : "3." + data.storage() + ".0",
                        lowered == 0 ? "" : "3." + lowered + ".0"));
    }

    /** Returns the hashes of the voting members that respond. */
    Hashes<MemberId> hashes() {
        return new Hashes<>(members.entrySet().stream()
                .filter(each -> isVoter(each.getValue()) && isConnected(each.getKey()))
                .collect(Collectors.toMap(
                        each -> new MemberId(each.getKey()),
                        each -> new Hashes.Hash(
                                placeOf(each.getKey())
                                                .flatMap(Place::data)
                                                .orElseThrow()
                                                .isCorrupt()
                                        ? 2
                                        : 1,
                                compacted))));
    }

    @Override
    public MemberId addLearner(List<URI> peerUrls) throws RefusedException, OutcomeUnknownException {
        boolean isListed = members.values().stream()
                .anyMatch(member -> member.peerUrls().stream().anyMatch(peerUrls::contains));
        if (isListed) {
            throw new RefusedException("etcdserver: Peer URLs already exists", "");
        }
        if (voters() > 1 && count(this::isConnected) <= (voters() + 1) / 2) {
            throw new RefusedException("etcdserver: unhealthy cluster", "");
        }
        MemberId id = new MemberId(nextId++);
        request("add learner", () -> members.put(id.value(), new Listed("", Role.LEARNER, peerUrls, List.of())));
        return id;
    }

    @Override
    public void promote(MemberId learner) throws RefusedException, OutcomeUnknownException {
        Listed listed = members.get(learner.value());
        boolean isInSync = isConnected(learner.value())
                && placeOf(learner.value())
                        .flatMap(Place::data)
                        .filter(Data::isWhole)
                        .isPresent();
        if (listed.role() == Role.VOTER || !isInSync) {
            throw new RefusedException(
                    "etcdserver: can only promote a learner member which is in sync with leader", "");
        }
        request(
                "promote",
                () -> members.put(
                        learner.value(),
                        new Listed(listed.name(), Role.VOTER, listed.peerUrls(), listed.clientUrls())));
    }

    @Override
    public void remove(MemberId member) throws RefusedException, OutcomeUnknownException {
        if (!members.containsKey(member.value())) {
            throw new RefusedException("etcdserver: member not found", "");
        }
        request("remove", () -> members.remove(member.value()));
    }

    @Override
    public void updatePeerUrls(MemberId member, List<URI> peerUrls) throws OutcomeUnknownException {
        request(
                "update peer URLs",
                () -> members.computeIfPresent(
                        member.value(),
                        (id, listed) -> new Listed(listed.name(), listed.role(), peerUrls, listed.clientUrls())));
    }

    @Override
    public void moveLeader(MemberId from, MemberId to) throws OutcomeUnknownException {
        assertThat(isVoter(members.get(to.value())) && isConnected(to.value())).isTrue();
        request("move leader", () -> leader = Optional.of(to));
    }

    @Override
    public void compact(Revision revision) throws OutcomeUnknownException {
        assertThat(alarms).as("alarms that refuse a compaction").noneMatch(alarm -> alarm.kind()
                .equals("CORRUPT"));
        request("compact", () -> compacted = Math.max(compacted, revision.value()));
    }

    @Override
    public void defragment(MemberId member) throws OutcomeUnknownException {
        request("defragment", () -> defragmented.add(member.value()));
    }

    @Override
    public void disarm(Alarm alarm) throws OutcomeUnknownException {
        if (alarm.kind().equals("NOSPACE")) {
            assertThat(compacted).as("compacted before %s ends", alarm).isGreaterThan(1);
            assertThat(defragmented)
                    .as("defragmented before %s ends", alarm)
                    .containsAll(
                            members.keySet().stream().filter(this::isConnected).toList());
        } else {
            assertThat(members.keySet())
                    .as("corrupt members when %s ends", alarm)
                    .noneMatch(id -> placeOf(id)
                            .flatMap(Place::data)
                            .filter(Data::isCorrupt)
                            .isPresent());
        }
        request("disarm", () -> alarms.remove(alarm));
    }

    @Override
    public void downgrade(String version) throws OutcomeUnknownException {
        request(
                "downgrade",
                () -> lowered =
                        version.isEmpty() ? 0 : EtcdVersion.parse(version).minor());
    }

    @Override
    public List<MemberSpec> places() {
        return places.values().stream().map(Place::spec).toList();
    }

    @Override
    public void found(MemberSpec member, String initialCluster, String token) {
        throw new UnsupportedOperationException();
    }

    @Override
    public void join(MemberSpec member, String initialCluster) {
        requireStopped(member);
        setAside(member);
        effect("start without data " + member.name(), () -> {
            Optional<Long> listed = members.entrySet().stream()
                    .filter(each -> each.getValue().peerUrls().equals(member.peerUrls()))
                    .map(Map.Entry::getKey)
                    .findFirst();
            assertThat(listed).as("a member is expected at %s", member).isPresent();
            Data data = new Data(new MemberId(listed.orElseThrow()), "", BEHIND, false, 0);
            joined.add(member.name());
            places.computeIfPresent(member.name(), (name, place) -> place.with(Optional.of(data))
                    .started(configured, now()));
        });
    }

    private Instant now() {
        starts++;
        return STARTED.plusSeconds(100L + starts);
    }

    private void setAside(MemberSpec member) {
        if (places.get(member.name()).data().isPresent()) {
            effect(
                    "set aside " + member.name(),
                    () -> places.computeIfPresent(member.name(), (name, place) -> place.setAside()));
        }
    }

    private void requireStopped(MemberSpec member) {
        assertThat(isRunning(member)).as("%s runs", member.name()).contains(false);
    }

    @Override
    public void start(MemberSpec member) {
        start(member, UnaryOperator.identity());
    }

    @Override
    public void start(MemberSpec member, UnaryOperator<MachineSettings> settings) {
        Place at = places.get(member.name());
        assertThat(at.data()).as("data of %s", member.name()).isPresent();
        if (at.isRunning()) {
            return;
        }
        MachineSettings changed =
                settings.apply(MachineSettings.of(member, ProcessKind.LOCAL, Path.of("/data", member.name())));
        EtcdVersion version = changed.program().filter(NEW_PROGRAM::equals).isPresent() ? target : configured;
        assertThat(storage(version))
                .as("version that reads the data of %s", member.name())
                .isGreaterThanOrEqualTo(at.data().orElseThrow().storage());
        effect(
                "start " + member.name(),
                () -> places.computeIfPresent(member.name(), (name, place) -> place.started(version, now())));
    }

    @Override
    public void stop(MemberSpec member) {
        Place at = places.get(member.name());
        if (!at.isRunning()) {
            return;
        }
        boolean isRemoved = at.data()
                .map(data -> !members.containsKey(data.owner().value()))
                .orElse(true);
        assertThat(isRemoved || joined.contains(member.name()) || restartable.contains(member.name()))
                .as("%s may be stopped", member.name())
                .isTrue();
        effect("stop " + member.name(), () -> places.computeIfPresent(member.name(), (name, place) -> place.stopped()));
    }

    @Override
    public void retire(MemberSpec member) {
        stop(member);
        setAside(member);
    }

    @Override
    public void copyData(MemberSpec member) {
        throw new UnsupportedOperationException();
    }

    @Override
    public Optional<Boolean> isRunning(MemberSpec member) {
        return Optional.of(places.get(member.name()).isRunning());
    }

    @Override
    public Optional<DataOwner> owner(MemberSpec member) {
        return places.get(member.name()).data().map(data -> new DataOwner(CLUSTER, data.owner()));
    }

    @Override
    public Optional<String> moveFailure(MemberSpec from, MemberSpec to) {
        Place target = places.get(to.name());
        if (places.get(from.name()).data().isEmpty()) {
            return target.data().isPresent() ? Optional.empty() : Optional.of("no data");
        }
        return target.isRunning() ? Optional.of("a process uses it") : Optional.empty();
    }

    @Override
    public void moveData(MemberSpec from, MemberSpec to) {
        requireStopped(from);
        if (places.get(from.name()).data().isPresent()) {
            setAside(to);
            effect("move the data of " + from.name(), () -> {
                Optional<Data> data = places.get(from.name()).data();
                places.computeIfPresent(to.name(), (name, place) -> place.with(data));
                places.computeIfPresent(from.name(), (name, place) -> place.with(Optional.empty()));
            });
        }
    }

    /** Returns what another command depends on. */
    String key() {
        settle();
        return members + " " + leader + " "
                + alarms.stream().map(Alarm::toString).sorted().toList() + " " + compacted
                + " " + defragmented + " " + joined + " "
                + places.values().stream()
                        .map(place -> place.with(place.data().map(data -> data.with(0, data.storage()))))
                        .map(place -> place.started(place.version(), STARTED)
                                + (place.isRunning() ? " runs" : "")
                                + (place.isSilent() ? " silent" : "")
                                + (place.startedAt().isAfter(STARTED) ? " restarted" : ""))
                        .toList();
    }

    /**
     * Returns what the operator sees. These are members with roles, URLs, versions and processes, alarms, and where the
     * data are that existed before.
     */
    List<String> end() {
        settle();
        List<String> lines = new ArrayList<>();
        members.forEach((id, listed) -> lines.add(text(id, listed)));
        alarms.forEach(alarm -> lines.add(alarm.toString()));
        for (Place place : places.values()) {
            place.aside().forEach(data -> lines.add("kept " + data.first()));
            place.data()
                    .ifPresent(data -> lines.add(
                            members.containsKey(data.owner().value())
                                    ? "used at " + place.spec().name() + " " + data.first()
                                    : "kept " + data.first()));
        }
        return lines.stream()
                .filter(line -> !line.equals("kept ") && !line.matches("used at \\S+ "))
                .sorted()
                .toList();
    }

    private String text(long id, Listed listed) {
        Optional<Place> place = placeOf(id);
        boolean isNew = place.flatMap(Place::data)
                .filter(data -> data.first().isEmpty())
                .isPresent();
        String label = isNew && isAnyPlace
                ? "a new member"
                : listed.name() + " " + listed.peerUrls() + " " + listed.clientUrls();
        boolean isRestarted =
                isRolled && place.filter(at -> at.startedAt().isAfter(STARTED)).isPresent();
        return label + " " + listed.role() + (isConnected(id) ? " serves" : "")
                + place.map(at -> " " + at.version()).orElse(" without data")
                + (isRestarted ? " restarted" : "");
    }
}
