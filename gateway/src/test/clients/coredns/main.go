// Runs CoreDNS with records at the endpoint given, and queries them; prints one line per step.
package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime/debug"
	"sort"
	"strings"
	"time"

	"github.com/coredns/coredns/coremain"
	_ "github.com/coredns/coredns/plugin/bind"
	_ "github.com/coredns/coredns/plugin/etcd"
	"github.com/miekg/dns"
	clientv3 "go.etcd.io/etcd/client/v3"
)

const zone = "skydns.local."

var (
	server  string
	section string
	step    int
)

func must[T any](result T, err error) T {
	if err != nil {
		panic(err)
	}
	return result
}

func begin(name string) { section, step = name, 0 }

// query prints response code and answers of a name of the zone.
func query(name string, kind uint16) {
	step++
	answer := must(ask(name, kind))
	fmt.Printf("%s %d: %s %s %s %s extra %s\n", section, step, name, dns.TypeToString[kind],
		dns.RcodeToString[answer.Rcode], records(answer.Answer), records(answer.Extra))
}

func ask(name string, kind uint16) (*dns.Msg, error) {
	question := new(dns.Msg).SetQuestion(name+zone, kind)
	answer, _, err := (&dns.Client{Net: "tcp", Timeout: 10 * time.Second}).Exchange(question, server)
	return answer, err
}

func records(all []dns.RR) string {
	var lines []string
	for _, each := range all {
		lines = append(lines, strings.ReplaceAll(each.String(), "\t", " "))
	}
	sort.Strings(lines)
	return fmt.Sprint(lines)
}

func version(module string) string {
	info, _ := debug.ReadBuildInfo()
	for _, each := range info.Deps {
		if each.Path == module {
			return strings.TrimPrefix(each.Version, "v")
		}
	}
	return "?"
}

// start runs this program as CoreDNS.
func start(endpoint string) func() {
	free := must(net.Listen("tcp", "127.0.0.1:0"))
	server = free.Addr().String()
	free.Close()
	port := server[strings.LastIndex(server, ":")+1:]
	corefile := must(os.CreateTemp("", "Corefile"))
	fmt.Fprintf(corefile, "%s:%s {\n bind 127.0.0.1\n etcd {\n  path /skydns\n  endpoint http://%s\n }\n}\n", zone, port, endpoint)
	corefile.Close()
	command := exec.Command(os.Args[0], "-conf", corefile.Name(), "-quiet")
	command.Env = append(os.Environ(), "SERVE=1")
	command.Stderr = os.Stderr
	if err := command.Start(); err != nil {
		panic(err)
	}
	for end := time.Now().Add(30 * time.Second); ; {
		if _, err := ask("ns.dns.", dns.TypeA); err == nil {
			break
		} else if time.Now().After(end) {
			panic(err)
		}
		time.Sleep(100 * time.Millisecond)
	}
	return func() {
		command.Process.Kill()
		command.Wait()
		os.Remove(corefile.Name())
	}
}

func main() {
	if os.Getenv("SERVE") != "" {
		coremain.Run()
		return
	}
	endpoint := os.Args[1]
	fmt.Printf("client: CoreDNS %s\n", version("github.com/coredns/coredns"))
	ctx := context.Background()
	client := must(clientv3.New(clientv3.Config{Endpoints: []string{endpoint}}))
	defer client.Close()
	put := func(key, value string, options ...clientv3.OpOption) {
		must(client.Put(ctx, "/skydns/local/skydns/"+key, value, options...))
	}
	defer start(endpoint)()

	begin("addresses")
	query("absent.", dns.TypeA)
	put("east/1", `{"host":"10.0.0.1","ttl":60}`)
	put("east/2", `{"host":"10.0.0.2","port":8080,"priority":20}`)
	put("east/6", `{"host":"2001:db8::6"}`)
	query("1.east.", dns.TypeA)
	query("east.", dns.TypeA)
	query("east.", dns.TypeAAAA)
	query("east.", dns.TypeMX)
	put("east/1", `{"host":"10.0.0.9","ttl":60}`)
	query("1.east.", dns.TypeA)

	begin("services")
	query("east.", dns.TypeSRV)
	put("alias", `{"host":"1.east.skydns.local"}`)
	query("alias.", dns.TypeCNAME)
	query("alias.", dns.TypeA)
	put("text", `{"text":"one text"}`)
	query("text.", dns.TypeTXT)
	put("wild/*", `{"host":"10.1.1.1"}`)
	query("any.wild.", dns.TypeA)
	put("group/a", `{"host":"10.2.0.1","group":"g1"}`)
	put("group/b/c", `{"host":"10.2.0.2","group":"g2"}`)
	query("group.", dns.TypeA)

	begin("changes")
	lease := must(client.Grant(ctx, 3600))
	put("leased", `{"host":"10.3.0.1","ttl":60}`, clientv3.WithLease(lease.ID))
	query("leased.", dns.TypeA)
	must(client.Revoke(ctx, lease.ID))
	query("leased.", dns.TypeA)
	must(client.Delete(ctx, "/skydns/local/skydns/east/", clientv3.WithPrefix()))
	query("east.", dns.TypeA)
	query("east.", dns.TypeSRV)
	put("broken", `not JSON`)
	query("broken.", dns.TypeA)
}
